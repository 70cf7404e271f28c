//! Files in several places.

use std::fs;

use langgraph_agent::{ToolError, async_trait};
use langgraph_deep::{CompositeFiles, DiskFiles, FileContext, Files, StateFiles, StoreFiles};
use serde_json::json;
use tempfile::TempDir;

use super::support::answers_with;

/// A place that cannot be reached.
struct Away;

#[async_trait]
impl Files for Away {
    async fn read(&self, _: &str, _: FileContext<'_>) -> Result<Option<String>, ToolError> {
        Err(ToolError::model("nothing answers"))
    }

    async fn write(&self, _: &str, _: &str, _: FileContext<'_>) -> Result<(), ToolError> {
        Err(ToolError::model("nothing answers"))
    }

    async fn paths(&self, _: &str, _: FileContext<'_>) -> Result<Vec<String>, ToolError> {
        Err(ToolError::model("nothing answers"))
    }
}

#[tokio::test]
async fn an_error_of_one_place_is_no_answer_without_its_files() {
    let files = CompositeFiles::new(StateFiles).at("/away", Away).unwrap();
    let of = [
        (
            "write_file",
            json!({"path": "/here/tea.md", "content": "tea"}),
        ),
        ("ls", json!({})),
        ("glob", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "tea", "path": "/away/x"})),
        ("read_file", json!({"path": "/away/x"})),
        ("write_file", json!({"path": "/away/x", "content": "x"})),
        ("grep", json!({"pattern": "tea", "path": "/here"})),
    ];
    let answers = answers_with(files, &of).await;
    for answer in &answers[1..6] {
        assert_eq!(answer, "in the folder `/away`: nothing answers");
    }
    assert_eq!(answers[6], "/here/tea.md:1: tea");
}

#[tokio::test]
async fn the_files_of_two_namespaces_are_apart() {
    let write = |at: &str| {
        (
            "write_file",
            json!({"path": format!("{at}/tea.md"), "content": at}),
        )
    };
    // One of them is inside the other.
    let files = CompositeFiles::new(StateFiles)
        .at("/all", StoreFiles::new(["files"]))
        .unwrap()
        .at("/ada", StoreFiles::new(["files", "ada"]))
        .unwrap()
        .at("/bob", StoreFiles::new(["files", "bob"]))
        .unwrap();
    let of = [
        write("/ada"),
        write("/all"),
        ("ls", json!({"path": "/bob"})),
        ("ls", json!({"path": "/all"})),
        ("grep", json!({"pattern": "."})),
        ("read_file", json!({"path": "/bob/tea.md"})),
    ];
    let answers = answers_with(files, &of).await;
    assert_eq!(
        answers[2..],
        [
            "nothing found",
            "/all/tea.md",
            "/ada/tea.md:1: /ada\n/all/tea.md:1: /all",
            "there is no file `/bob/tea.md`",
        ]
    );
}

#[tokio::test]
async fn the_folder_of_a_place_is_no_file_and_its_errors_name_it() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("photo"), [0xff, 0xfe]).unwrap();
    let files = CompositeFiles::new(StateFiles)
        .at("/memories", StoreFiles::new(["memories"]))
        .unwrap()
        .at("/src", DiskFiles::new(folder.path()))
        .unwrap();
    let write = |path: &str| ("write_file", json!({"path": path, "content": "x"}));
    let of = [
        write("/memories/"),
        write("/src"),
        ("ls", json!({})),
        ("read_file", json!({"path": "/memories"})),
        ("read_file", json!({"path": "/src/photo"})),
        write("/memoriesx"),
    ];
    assert_eq!(
        answers_with(files, &of).await,
        [
            "`/memories` is a folder; name a file in it",
            "`/src` is a folder; name a file in it",
            "/src/",
            "there is no file `/memories`",
            "in the folder `/src`: the file `/photo` is not text",
            "`/memoriesx` is written",
        ]
    );
}

#[test]
fn two_places_for_a_folder_are_refused() {
    let files = CompositeFiles::new(StateFiles)
        .at("/a", StateFiles)
        .unwrap();
    for folder in ["/a/", "a", "/", "/b/../a"] {
        assert!(files.clone().at(folder, StateFiles).is_err(), "{folder}");
    }
}
