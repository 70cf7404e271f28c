//! Updates that set a field without its reducer.

use std::sync::Arc;

use langgraph::checkpoint::{Format, Json, MemorySaver};
use langgraph::node::{IntoOutput, Overwriting};
use langgraph::prelude::*;
use langgraph::state::Write;
use serde::{Deserialize, Serialize};

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Rag {
    question: String,
    #[reducer(append)]
    documents: Vec<String>,
    #[reducer(append)]
    log: Vec<String>,
}

/// Gathers anew, and notes it beside: no command, and no `goto`.
#[node]
async fn retrieve(state: &Rag) -> Overwriting<Rag> {
    RagUpdate::default()
        .question("again".to_owned())
        .log(vec![format!("dropped {}", state.documents.len())])
        .overwrite_documents(vec![format!("about {}", state.question)])
}

fn enough(state: &Rag) -> bool {
    state.log.len() == 3
}

fn graph() -> StateGraph<Rag> {
    graph! {
        START => retrieve => if enough { END } else { retrieve };
    }
}

fn input() -> RagUpdate {
    RagUpdate::default()
        .question("crabs".to_owned())
        .documents(vec!["a".to_owned(), "b".to_owned()])
}

#[tokio::test]
async fn a_list_is_emptied_in_a_loop() {
    let state = graph().compile().unwrap().invoke(input()).await.unwrap();
    assert_eq!(state.documents, ["about again"]);
    assert_eq!(state.log, ["dropped 2", "dropped 1", "dropped 1"]);
}

#[tokio::test]
async fn an_overwrite_is_read_back_from_a_thread() {
    let graph = graph().compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let state = graph
        .run(input())
        .thread("t")
        .await
        .unwrap()
        .finished()
        .unwrap();
    let stored = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(stored.values, state);
    // An input and an update from outside set fields too.
    let cleared = RagUpdate::default().overwrite_log(Vec::new());
    graph.thread("t").update(cleared.clone()).await.unwrap();
    assert!(
        graph
            .thread("t")
            .state()
            .await
            .unwrap()
            .unwrap()
            .values
            .log
            .is_empty()
    );
    let state = graph.run(cleared).thread("new").await.unwrap();
    assert_eq!(state.state().log, ["dropped 0", "dropped 1", "dropped 1"]);
}

/// A part that is added later comes later.
#[tokio::test]
async fn several_fields_are_set_and_merged_in_order() {
    #[node]
    async fn again(_: &Rag) -> Overwriting<Rag> {
        RagUpdate::default()
            .overwrite_documents(Vec::new())
            .and_overwrite(RagUpdate::default().log(vec!["set".to_owned()]))
            .and_update(RagUpdate::default().documents(vec!["new".to_owned()]))
    }
    let graph = graph! { START => again => END };
    let input = input().log(vec!["old".to_owned()]);
    let state = graph.compile().unwrap().invoke(input).await.unwrap();
    assert_eq!(state.documents, ["new"]);
    assert_eq!(state.log, ["set"]);
}

/// With a target, it is a command.
#[tokio::test]
async fn a_command_takes_an_overwriting_update() {
    #[node]
    async fn clear(_: &Rag) -> Command<Rag> {
        let cleared = RagUpdate::default().overwrite_documents(Vec::new());
        Command::from(cleared).and_goto(END)
    }
    let graph = graph! { START => clear => goto [END] };
    let state = graph.compile().unwrap().invoke(input()).await.unwrap();
    assert!(state.documents.is_empty());
    assert_eq!(state.question, "crabs");
}

/// An update that only sets fields merges nothing, so nothing else is stored.
#[test]
fn an_update_that_only_sets_a_field_is_one_write() {
    let only = RagUpdate::default().overwrite_documents(Vec::new());
    let output = IntoOutput::<Rag>::into_output(only).unwrap();
    assert!(matches!(output.writes(), [Write::Overwrite(_)]));
}

/// An overwrite beats the plain updates of parallel nodes; two of one field conflict, as with a command.
#[tokio::test]
async fn overwrites_of_parallel_nodes() {
    #[node]
    async fn add(_: &Rag) -> RagUpdate {
        RagUpdate::default().documents(vec!["added".to_owned()])
    }
    #[node]
    async fn clear(_: &Rag) -> Overwriting<Rag> {
        RagUpdate::default().overwrite_documents(vec!["set".to_owned()])
    }
    #[node]
    async fn clear_too(_: &Rag) -> Overwriting<Rag> {
        RagUpdate::default().overwrite_documents(Vec::new())
    }
    let graph = graph! { START => [add, clear] => END };
    let state = graph.compile().unwrap().invoke(input()).await.unwrap();
    assert_eq!(state.documents, ["set"]);
    let graph = graph! { START => [clear, clear_too] => END };
    let error = graph.compile().unwrap().invoke(input()).await.unwrap_err();
    assert!(error.to_string().contains("documents"), "{error}");
}

/// What an update sets does not pass as a field of its stored form.
#[test]
fn the_stored_form_of_an_update_has_its_fields_only() {
    let text = Json.encode(&input()).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text, r#"{"question":"crabs","documents":["a","b"]}"#);
}
