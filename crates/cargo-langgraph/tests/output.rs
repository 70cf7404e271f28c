//! What the command prints, when nothing reads all of it.

#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::fs;
use std::io::pipe;
use std::process::Command;

/// Formats a folder, with an output whose reader has ended. Returns the exit code, and what the errors are.
fn format_unread(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = "fn f() {\n    let graph = graph! {  START => a=>END };\n}\n";
    fs::write(folder.path().join("lib.rs"), file).unwrap();
    let (reader, output) = pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-langgraph"));
    command.args(["langgraph", "fmt"]).args(arguments);
    let command = command.arg(folder.path()).stdout(output);
    let ended = command.output().unwrap();
    (
        ended.status.code(),
        String::from_utf8(ended.stderr).unwrap(),
    )
}

#[test]
fn an_output_that_is_cut_off_is_no_error() {
    assert_eq!(format_unread(&[]), (Some(0), String::new()));
}

#[test]
fn the_exit_code_is_the_same_without_a_reader() {
    assert_eq!(format_unread(&["--check"]), (Some(1), String::new()));
}
