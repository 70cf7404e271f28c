//! What cannot be stored as bytes.

use std::sync::Arc;

use langgraph::checkpoint::{Formats, MemorySaver};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph_tests::OverMemory;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Notes {
    #[reducer(append)]
    log: Vec<String>,
    score: Option<f64>,
}

#[derive(Clone, Debug, Default)]
struct Handle;

#[derive(State, Clone, Debug, Default)]
struct Secret {
    handle: Handle,
    log: Vec<String>,
}

#[tokio::test]
async fn a_graph_inside_that_cannot_be_stored_is_named_when_the_run_starts() {
    let mut inner = StateGraph::<Secret>::new();
    inner
        .add_node("a", |_: &Secret| SecretUpdate::default())
        .add_sequence(&["a"]);
    let inner = inner.compile().unwrap();
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("before", |_: &Notes| -> NotesUpdate {
            panic!("it has started")
        })
        .add_node(
            "inside",
            inner.mapped(
                |_: &Notes| Secret::default(),
                |secret| NotesUpdate::default().log(secret.log),
            ),
        )
        .add_sequence(&["before", "inside"]);
    let graph = graph.compile().unwrap();
    let store = Arc::new(MemorySaver::new());
    let kept = graph
        .clone()
        .checkpointer(OverMemory::new(&store, Formats::default()));
    let error = kept.run(()).thread("t").await.unwrap_err();
    let AgentError::Checkpoint(CheckpointError::SubgraphNotStorable { node, state }) = &error
    else {
        panic!("{error}");
    };
    assert_eq!(
        (&**node, *state),
        ("inside", "persistence::evolution::stored::Secret")
    );
    let text = error.to_string();
    assert!(
        text.contains("`inside`") && text.contains("Secret"),
        "{text}"
    );
    assert!(kept.thread("t").state().await.unwrap().is_none());
}

#[tokio::test]
async fn what_json_cannot_give_back_fails_the_run_with_the_fields_name() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("divide", |_: &Notes| {
            NotesUpdate::default().score(Some(f64::NAN))
        })
        .add_sequence(&["divide"]);
    let graph = graph.compile().unwrap();
    let store = Arc::new(MemorySaver::new());
    let kept = graph
        .clone()
        .checkpointer(OverMemory::new(&store, Formats::default()));
    let error = kept.run(()).thread("t").await.unwrap_err().to_string();
    assert!(
        error.contains(
            "what node `divide` wrote cannot be stored on thread `t`: field `score`: `NaN` \
             cannot be stored as JSON"
        ),
        "{error}"
    );
    // In memory it may.
    let kept = graph.checkpointer(Arc::new(MemorySaver::new()));
    let done = kept.run(()).thread("t").await.unwrap();
    assert!(done.state().score.unwrap().is_nan());
}
