//! The tools as functions, and as a model sees them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod folders;

use folders::Folder;
use langgraph_examples::tools::{all, calculate, find_files, get_current_time};
use serde_json::{Value, json};

#[tokio::test]
async fn a_search_is_shown_with_its_number_and_names() {
    let folder = Folder::with(&["b.rs", "a.rs", "c.md"]);
    let root = folder.path().display().to_string();
    let found = find_files(Some(root.clone()), Some("rs".into()), None)
        .await
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&found).unwrap(),
        json!({ "count": 2, "files": ["a.rs", "b.rs"] })
    );
    let both = find_files(Some(root), Some("rs".into()), Some("*".into())).await;
    assert!(both.is_err_and(|error| error.to_string().contains("not both")));
}

#[tokio::test]
async fn mistakes_are_sent_to_the_model() {
    let zero = calculate("1 / 0".into()).await.unwrap_err();
    assert_eq!(zero.to_string(), "division by zero at position 3");
    let mars = get_current_time(Some("mars".into())).await.unwrap_err();
    assert!(mars.to_string().starts_with("unknown zone `mars`"));
}

#[test]
fn the_model_reads_what_the_doc_comments_say() {
    let definitions = all().definitions();
    let names: Vec<&str> = definitions.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["calculate", "get_current_time", "find_files"]);
    assert_eq!(
        definitions[0].description,
        "Works out an arithmetic expression exactly."
    );
    assert_eq!(definitions[0].parameters["required"], json!(["expression"]));
}
