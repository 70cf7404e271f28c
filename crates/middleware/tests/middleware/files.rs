//! The search of files.

use std::fs;

use langgraph_middleware::FileSearch;
use serde_json::json;
use tempfile::TempDir;

use super::support::answer_of;

fn handbook() -> (TempDir, TempDir) {
    let (folder, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::create_dir_all(folder.path().join("rules/old")).unwrap();
    fs::write(
        folder.path().join("dogs.md"),
        "Dogs may come.\nOn Fridays.\n",
    )
    .unwrap();
    fs::write(folder.path().join("rules/cats.md"), "Cats may not come.\n").unwrap();
    fs::write(folder.path().join("rules/old/cats.txt"), "Cats may come.\n").unwrap();
    fs::write(folder.path().join(".secret"), "Cats pay.\n").unwrap();
    fs::write(folder.path().join("photo"), [0xff, 0xfe, 0]).unwrap();
    fs::write(outside.path().join("plan.md"), "Cats take over.\n").unwrap();
    (folder, outside)
}

#[tokio::test]
async fn files_are_found_by_their_paths_and_by_their_lines() {
    let (folder, _) = handbook();
    let search = || FileSearch::new(folder.path());
    for (pattern, path, found) in [
        ("*.md", "", "dogs.md"),
        ("**/*.md", "", "dogs.md\nrules/cats.md"),
        ("**/*", "rules", "rules/cats.md\nrules/old/cats.txt"),
        ("**/*.secret", "", "nothing found"),
    ] {
        let asks = json!({"pattern": pattern, "path": path});
        assert_eq!(answer_of(search(), "glob_search", asks).await, found);
    }
    let asks = json!({"pattern": "(?i)cats .*come"});
    let found = "rules/cats.md:1: Cats may not come.\nrules/old/cats.txt:1: Cats may come.";
    assert_eq!(answer_of(search(), "grep_search", asks).await, found);
    let asks = json!({"pattern": "come", "include": "*.md"});
    assert_eq!(
        answer_of(search(), "grep_search", asks).await,
        "dogs.md:1: Dogs may come."
    );
    let asks = json!({"pattern": "come"});
    let few = answer_of(search().results(1), "grep_search", asks.clone()).await;
    assert_eq!(
        few,
        "dogs.md:1: Dogs may come.\n(only the first 1; search for less)"
    );
    let none = answer_of(search().largest(3), "grep_search", asks).await;
    assert_eq!(none, "nothing found");
}

#[tokio::test]
async fn there_is_no_way_out_of_the_folder() {
    let (folder, outside) = handbook();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        let plan = outside.path().join("plan.md");
        std::os::unix::fs::symlink(plan, folder.path().join("plan.md")).unwrap();
    }
    let search = || FileSearch::new(folder.path());
    for path in ["..", "rules/../..", "./../x", "link", "link/x"] {
        for tool in ["glob_search", "grep_search"] {
            let asks = json!({"pattern": "x", "path": path});
            let answer = answer_of(search(), tool, asks).await;
            let refused = answer.contains("leaves the folder") || answer.contains("a link");
            assert!(refused, "{path}: {answer}");
        }
    }
    // A path of another root is one inside this one.
    let asks = json!({"pattern": "x", "path": outside.path().to_str().unwrap()});
    let answer = answer_of(search(), "grep_search", asks).await;
    assert!(answer.contains("there is no folder"), "{answer}");
    let found = answer_of(search(), "grep_search", json!({"pattern": "take over"})).await;
    assert_eq!(found, "nothing found");
    let broken = answer_of(search(), "grep_search", json!({"pattern": "("})).await;
    assert!(broken.contains("not a regular expression"), "{broken}");
}
