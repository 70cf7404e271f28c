//! Libraries with `test = false` have no tests, or these run elsewhere.

use std::path::Path;

use walkdir::WalkDir;

use crate::features::packages;
use crate::source::{read, root};

/// How a file with tests shows.
const TESTS: [&str; 3] = ["#[test]", "::test]", "proptest!"];

/// The text of the Rust files of a folder.
fn texts(folder: &Path) -> impl Iterator<Item = String> {
    let files = WalkDir::new(folder).into_iter().map(|file| file.unwrap());
    let rust = files.filter(|file| file.path().extension().is_some_and(|end| end == "rs"));
    rust.map(|file| std::fs::read_to_string(file.path()).unwrap())
}

#[test]
fn a_library_that_is_not_built_for_tests_has_none() {
    let crates = root().canonicalize().unwrap().join("crates");
    let mut count = 0;
    for package in packages() {
        let targets = package["targets"].as_array().unwrap();
        let untested = targets
            .iter()
            .filter(|target| target["kind"][0] == "lib" && target["test"] == false);
        for target in untested {
            let source = Path::new(target["src_path"].as_str().unwrap());
            let folder = source.parent().unwrap();
            if !folder.starts_with(&crates) {
                continue;
            }
            count += 1;
            let tests = texts(folder).any(|text| TESTS.iter().any(|test| text.contains(test)));
            assert!(!tests, "{} has tests, and `test = false`", folder.display());
        }
    }
    assert!(count > 5, "{count}");
}

#[test]
fn the_examples_of_the_macros_are_doctests_of_these_tests() {
    let (macros, ours) = (
        read("langgraph-macros/src/lib.rs"),
        read("tests/src/lib.rs"),
    );
    assert!(!macros.contains("```"), "examples of macros are in files");
    let pages = macros.split("include_str!(\"").skip(1);
    let pages: Vec<&str> = pages.map(|rest| rest.split_once('"').unwrap().0).collect();
    for page in &pages {
        let page = format!("\"../../langgraph-macros/src/{page}\"");
        assert!(ours.contains(&page), "tests/src/lib.rs lacks {page}");
    }
    assert!(pages.len() > 5, "{pages:?}");
}
