//! The crates under other names: rustc is given each only by the name that the program says, so that
//! a path that an expansion writes itself leads nowhere.

use std::path::{Path, PathBuf};

use crate::rustc::{self, library};

/// What rustc says about a program that knows the runtime as `graphs`, and the agents as `agents`.
fn reported(program: &Path) -> String {
    let name = program.file_stem().unwrap().to_string_lossy();
    let output = rustc::command()
        .args(["--emit=metadata", "--crate-name=renamed"])
        .arg("--extern")
        .arg(format!("graphs={}", library("langgraph").display()))
        .arg("--extern")
        .arg(format!("agents={}", library("langgraph_agent").display()))
        .arg("-o")
        .arg(folder().join(format!("{name}.rmeta")))
        .arg(program)
        .output()
        .unwrap();
    let reported = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        output.status.success(),
        !reported.contains("error"),
        "{reported}"
    );
    reported
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("renamed");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn d8_the_macros_name_a_renamed_crate_only_by_its_name() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/renamed");
    let mut count = 0;
    for program in std::fs::read_dir(programs).unwrap() {
        let program = program.unwrap().path();
        let reported = reported(&program);
        assert_eq!(reported, "", "{}", program.display());
        count += 1;
    }
    assert_eq!(count, 4);
}

/// Without this the test above could not fail.
#[test]
fn d8_a_leaked_name_of_a_renamed_crate_is_seen() {
    for leaked in ["langgraph", "langgraph_agent"] {
        let program = folder().join(format!("{leaked}.rs"));
        std::fs::write(&program, format!("pub use ::{leaked} as leaked;\n")).unwrap();
        let reported = reported(&program);
        assert!(reported.contains(&format!("`{leaked}`")), "{reported}");
    }
    // A macro that is not reported the other name writes the usual one.
    let program = folder().join("untold.rs");
    let text = "use graphs::State;\n#[derive(State, Clone)]\npub struct Work { count: i64 }\n";
    std::fs::write(&program, text).unwrap();
    assert!(reported(&program).contains("`langgraph`"));
}
