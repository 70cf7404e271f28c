//! What a refused update says of who wrote it.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::{InvalidUpdate, WrittenBy};
use langgraph::message::Message;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
struct Chat {
    #[reducer(add_messages_strict)]
    messages: Vec<Message>,
}

#[node]
async fn wait(_: &Chat) {}

fn graph() -> CompiledStateGraph<Chat> {
    let graph = graph! { START => wait => END }.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

/// An update that `add_messages_strict` refuses: there is no such message.
fn refused() -> ChatUpdate {
    ChatUpdate::default().messages(vec![Message::remove("unknown")])
}

fn writer(error: &AgentError) -> Option<&WrittenBy> {
    match error {
        AgentError::InvalidUpdate(InvalidUpdate::Reducer { writer, .. }) => Some(writer),
        _ => None,
    }
}

#[tokio::test]
async fn a_change_from_outside_is_not_blamed_on_the_input() {
    let graph = graph();
    graph.run(ChatUpdate::default()).thread("t").await.unwrap();
    let error = graph.thread("t").update(refused()).await.unwrap_err();
    assert_eq!(writer(&error), Some(&WrittenBy::External), "{error}");
    assert!(
        error.to_string().starts_with("update from outside: "),
        "{error}"
    );
    // The thread is as it was.
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert!(state.values.messages.is_empty());
}

#[tokio::test]
async fn an_input_is_named_as_one() {
    let error = graph().run(refused()).thread("t").await.unwrap_err();
    assert_eq!(writer(&error), Some(&WrittenBy::Input), "{error}");
}
