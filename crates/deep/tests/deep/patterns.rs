//! Patterns of paths, in each place for files.

use std::fs;

use langgraph_deep::{CompositeFiles, DiskFiles, Files, StateFiles, StoreFiles};
use serde_json::json;
use tempfile::TempDir;

use super::support::answers_with;

const TREE: [&str; 7] = [
    "/a.py",
    "/sub/b.py",
    "/sub/nested/c.py",
    "/readme.md",
    "/.hidden.py",
    "/.hidden/x.py",
    "/.github/workflows/ci.yml",
];

/// A pattern, the folder of the search, and the files that it finds.
type Case = (&'static str, &'static str, &'static [&'static str]);

const PYTHON: &[&str] = &[
    "/.hidden.py",
    "/.hidden/x.py",
    "/a.py",
    "/sub/b.py",
    "/sub/nested/c.py",
];

const CASES: [Case; 22] = [
    // Without a `/`, a pattern is one of names, at any depth below the folder.
    ("*.py", "/", PYTHON),
    ("*.py", "/sub", &["/sub/b.py", "/sub/nested/c.py"]),
    ("*.md", "/", &["/readme.md"]),
    (
        "?.py",
        "/",
        &["/.hidden/x.py", "/a.py", "/sub/b.py", "/sub/nested/c.py"],
    ),
    ("[ab].py", "/", &["/a.py", "/sub/b.py"]),
    (
        "[!a].py",
        "/",
        &["/.hidden/x.py", "/sub/b.py", "/sub/nested/c.py"],
    ),
    (
        "[^a].py",
        "/",
        &["/.hidden/x.py", "/sub/b.py", "/sub/nested/c.py"],
    ),
    (
        "*.{yml,md}",
        "/",
        &["/.github/workflows/ci.yml", "/readme.md"],
    ),
    ("*.{y{,a}ml,rst}", "/", &["/.github/workflows/ci.yml"]),
    ("{a}.py", "/", &[]),
    (".hidden.py", "/", &["/.hidden.py"]),
    (".*.py", "/", &["/.hidden.py"]),
    // With one, it is relative to the folder.
    ("**/*.py", "/", PYTHON),
    ("/*.py", "/", &["/.hidden.py", "/a.py"]),
    ("sub/*.py", "/", &["/sub/b.py"]),
    ("sub/**/*.py", "/", &["/sub/b.py", "/sub/nested/c.py"]),
    ("{sub,.hidden}/*.py", "/", &["/.hidden/x.py", "/sub/b.py"]),
    ("nested/*.py", "/sub", &["/sub/nested/c.py"]),
    ("nested/*.py", "/", &[]),
    ("a.py/**", "/", &[]),
    (".github/**/*.yml", "/", &["/.github/workflows/ci.yml"]),
    ("/sub/**", "/", &["/sub/b.py", "/sub/nested/c.py"]),
];

async fn conforms(name: &str, files: impl Files) {
    let writes = TREE.map(|path| ("write_file", json!({"path": path, "content": path})));
    let globs = CASES.map(|(pattern, path, _)| ("glob", json!({"pattern": pattern, "path": path})));
    let calls: Vec<_> = writes.into_iter().chain(globs).collect();
    let answers = answers_with(files, &calls).await;
    for ((pattern, path, wanted), answer) in CASES.iter().zip(&answers[TREE.len()..]) {
        let wanted = match *wanted {
            [] => "nothing found".to_owned(),
            wanted => wanted.join("\n"),
        };
        assert_eq!(*answer, wanted, "{name}: {pattern} in {path}");
    }
}

#[tokio::test]
async fn a_pattern_finds_the_same_files_in_every_place() {
    let (folder, below) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    conforms("state", StateFiles).await;
    conforms("store", StoreFiles::new(["files"])).await;
    conforms("disk", DiskFiles::new(folder.path())).await;
    let several = CompositeFiles::new(StateFiles).at("/sub", DiskFiles::new(below.path()));
    conforms("composite", several.unwrap()).await;
    assert!(fs::exists(below.path().join("nested/c.py")).unwrap());
}

#[tokio::test]
async fn a_pattern_with_too_many_alternatives_is_refused() {
    let many = "{a,b}".repeat(9);
    let of = [
        ("glob", json!({"pattern": many})),
        ("grep", json!({"pattern": "x", "glob": "[a"})),
        ("glob", json!({"pattern": "{a,b"})),
    ];
    let answers = answers_with(StateFiles, &of).await;
    assert!(
        answers[0].contains("more than 256 alternatives"),
        "{answers:?}"
    );
    assert!(answers[1].contains("not a pattern of paths"), "{answers:?}");
    assert_eq!(answers[2], "nothing found");
}
