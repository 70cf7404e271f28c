//! What the search for files finds, skips and refuses.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod folders;

use folders::Folder;
use langgraph_examples::file_search::{Filter, find_files};
use std::path::PathBuf;

fn names(found: &[PathBuf]) -> Vec<String> {
    found.iter().map(|p| p.display().to_string()).collect()
}

#[test]
fn finds_an_extension_at_every_depth_in_sorted_order() {
    let folder = Folder::with(&[
        "b.rs",
        "a/deep/er/c.rs",
        "a/x.RS",
        "a/x.md",
        "rs",
        "d.rs.bak",
    ]);
    let found = find_files(folder.path(), &Filter::extension(".rs")).unwrap();
    assert_eq!(names(&found), ["a/deep/er/c.rs", "a/x.RS", "b.rs"]);
}

#[test]
fn skips_target_and_hidden_folders_but_not_hidden_files() {
    let folder = Folder::with(&[
        "keep.rs",
        ".hidden.rs",
        "target/debug/build.rs",
        "sub/target/x.rs",
        ".git/y.rs",
        "src/target.rs",
    ]);
    let found = find_files(folder.path(), &Filter::extension("rs")).unwrap();
    assert_eq!(names(&found), [".hidden.rs", "keep.rs", "src/target.rs"]);
}

#[test]
fn the_folder_that_was_asked_for_is_searched_whatever_its_name_is() {
    let folder = Folder::with(&["target/a.rs", ".hidden/b.rs"]);
    for (name, file) in [("target", "a.rs"), (".hidden", "b.rs")] {
        let found = find_files(&folder.path().join(name), &Filter::Any).unwrap();
        assert_eq!(names(&found), [file]);
    }
}

#[test]
fn finds_by_name_pattern() {
    let folder = Folder::with(&["Cargo.toml", "sub/Cargo.toml", "Cargo.lock", "test_1.rs"]);
    for (pattern, count) in [
        ("Cargo.toml", 2),
        ("Cargo.*", 3),
        ("test_?.rs", 1),
        ("*", 4),
    ] {
        let filter = Filter::name(pattern).unwrap();
        let found = find_files(folder.path(), &filter).unwrap();
        assert_eq!(found.len(), count, "{pattern}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_back_up_does_not_make_the_search_endless() {
    let folder = Folder::with(&["a/one.rs"]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("a/loop")).unwrap();
    std::os::unix::fs::symlink("one.rs", folder.path().join("a/two.rs")).unwrap();
    std::os::unix::fs::symlink("gone.rs", folder.path().join("a/broken.rs")).unwrap();
    let found = find_files(folder.path(), &Filter::extension("rs")).unwrap();
    assert_eq!(names(&found), ["a/one.rs", "a/two.rs"]);
}

#[test]
fn says_what_is_wrong_with_the_folder_or_the_pattern() {
    let folder = Folder::with(&["file.txt"]);
    let missing = find_files(&folder.path().join("nowhere"), &Filter::Any).unwrap_err();
    assert!(missing.to_string().starts_with("there is no folder `"));
    let file = find_files(&folder.path().join("file.txt"), &Filter::Any).unwrap_err();
    assert!(file.to_string().ends_with("file.txt` is not a folder"));
    let pattern = Filter::name("[").unwrap_err().to_string();
    assert!(
        pattern.starts_with("`[` is not a file name pattern: "),
        "{pattern}"
    );
}
