//! What runs were given, read from their file.

use std::collections::BTreeMap;

use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_agent::MessagesState;
use langgraph_server::{Server, StoredContexts};
use langgraph_sqlite::SqliteSaver;
use serde_json::{Value, json};

#[tokio::test]
async fn a_run_has_the_context_that_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("think", |_: &MessagesState| ())
        .add_sequence(&["think"]);
    let server = Server::new().file(&file);
    let api = Api::serve(server.graph("agent", graph.compile().unwrap())).await;
    let thread = api.thread().await;
    let run = json!({
        "assistant_id": "agent", "input": {}, "context": {"tone": "dry"},
        "config": {"configurable": {"limit": 3}},
    });
    api.post(&format!("/threads/{thread}/runs/wait"), run).await;
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let metadata: BTreeMap<String, Value> =
        serde_json::from_value(state["metadata"].clone()).unwrap();

    let context = StoredContexts::open(&file).unwrap().of_run(&metadata);
    assert_eq!(context.context, json!({"tone": "dry"}));
    assert_eq!(context.configurable["limit"], 3);

    // Of a run that is not there, its metadata says what was configured.
    let other = BTreeMap::from([
        ("run_id".to_owned(), json!("other")),
        ("limit".to_owned(), json!(4)),
    ]);
    let context = StoredContexts::open(&file).unwrap().of_run(&other);
    assert_eq!(context.context, Value::Null);
    assert_eq!(context.configurable["limit"], 4);
}

#[test]
fn a_file_without_runs_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    drop(SqliteSaver::open(&file).unwrap());
    let before = std::fs::read(&file).unwrap();
    let contexts = StoredContexts::open(&file).unwrap();
    assert_eq!(contexts.of_run(&BTreeMap::new()).user, None);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert!(StoredContexts::open(folder.path().join("none.db")).is_err());
}
