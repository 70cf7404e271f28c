//! The programs of the pages build and run from the pages alone.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;

use langgraph_page_tests::Reader;

/// Reads a page in a new folder, outside of this workspace.
fn read(page: &str, project: &str) -> (usize, usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    // What this workspace has built is not built again.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(root.join(page)).unwrap();
    let mut reader = Reader::new(folder.path(), project, &root, target).unwrap();
    reader
        .read(&text)
        .unwrap_or_else(|error| panic!("{page}: {error}"))
}

#[test]
fn the_first_hour_ends_with_a_tested_persistent_streamed_agent() {
    let (files, commands) = read("docs/first-hour.md", "teashop");
    assert_eq!((files, commands), (5, 5));
}

#[test]
fn the_refund_desk_runs_on_sqlite_and_behind_the_server() {
    let (files, commands) = read("docs/production.md", "refund-desk");
    assert_eq!((files, commands), (16, 1));
}
