//! What the example prints, also from one process to the next.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../examples/tests/listed/mod.rs"]
mod listed;

use std::path::Path;
use std::process::Command;

/// The lines that the example prints with these arguments.
fn printed(arguments: &[&str]) -> Vec<String> {
    // `cargo test -p langgraph-sqlite` builds it before it runs a test; with `--test` it does not.
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile
        .join("examples/memory_persistence")
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "the example is not built: run `cargo build -p langgraph-sqlite --examples`"
    );
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn i2_every_listed_command_runs() {
    for listed in listed::of_package("langgraph-sqlite") {
        listed.run(&[]);
    }
}

#[test]
fn e12_memory_persistence_remembers_in_a_new_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guests.db");
    let file = file.to_str().unwrap();
    assert_eq!(
        printed(&[file, "Ada"]),
        ["Welcome, Ada! You are visitor 1."]
    );
    assert_eq!(
        printed(&[file, "Grace"]),
        ["Welcome, Grace! You are visitor 2."]
    );
    assert_eq!(printed(&[file, "Ada"]), ["Nice to see you again, Ada!"]);
    assert_eq!(printed(&[file, "Ada"]), ["Ada, this is your visit 3."]);
}

#[test]
fn i2_memory_persistence_shows_its_history() {
    assert_eq!(
        printed(&[]),
        [
            "Welcome, Ada! You are visitor 1.",
            "Welcome, Grace! You are visitor 2.",
            "Nice to see you again, Ada!",
            "step -1: ",
            "step 0: Ada",
            "step 1: Ada",
            "step 2: Ada",
            "step 3: Ada, Grace",
            "step 4: Ada, Grace",
            "step 5: Ada, Grace",
            "step 6: Ada, Grace, Ada",
            "step 7: Ada, Grace, Ada",
        ]
    );
}
