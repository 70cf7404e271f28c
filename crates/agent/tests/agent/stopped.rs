//! Threads behind runs that have stopped at a bound.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::AgentError;
use langgraph::prelude::*;
use langgraph::run::Outcome;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentContext, AgentUpdate, MessagesState, MessagesStateUpdate, ReactAgent, ScriptedModel, Turn,
    check_answered, react_agent,
};
use serde_json::json;

use super::support::{asks_the_time, call, clock};

/// Does nothing after each answer of the model.
struct Behind;

#[middleware]
impl AgentMiddleware for Behind {
    async fn after_model(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        Ok(AgentUpdate::default())
    }
}

/// An answer that asks for the time twice.
fn asks_twice(n: usize) -> Turn {
    let calls = [0, 1].map(|m| call(&format!("c{n}.{m}"), "get_current_time", json!({})));
    Turn::tool_calls(calls)
}

/// Returns the number of messages of a chat, each of whose calls has an answer.
fn length(state: &MessagesState) -> usize {
    check_answered(&state.messages).unwrap();
    state.messages.len()
}

/// Returns the bound that a run has reached: that of the edge to the tools.
fn bound_of_tools(ended: Result<Outcome<MessagesState>, AgentError>) -> Option<u32> {
    match ended {
        Err(AgentError::BoundReached { to, at_most, .. }) => (*to == *"tools").then_some(at_most),
        _ => None,
    }
}

/// Runs an agent on a thread until it asks for more calls than it may make, and goes on: with a new message, and
/// with more room.
async fn goes_on_behind_too_many_calls(with: fn(ReactAgent) -> ReactAgent) {
    let saver = Arc::new(MemorySaver::new());
    let model = ScriptedModel::new([
        asks_the_time("c0"),
        asks_twice(1),
        Turn::text("Noon."),
        asks_twice(2),
        asks_twice(3),
        asks_twice(4),
        Turn::text("Noon again."),
    ]);
    let thread = |calls| {
        let agent = with(react_agent(model.clone(), (clock(),))).max_tool_calls(calls);
        let agent = agent.compile().unwrap();
        agent.checkpointer(saver.clone()).thread("t")
    };
    let question = || MessagesStateUpdate::user("What time is it?");

    let failed = thread(2).run(question()).await;
    assert_eq!(bound_of_tools(failed), Some(2));
    let stored = thread(2).state().await.unwrap().unwrap();
    assert_eq!(length(&stored.values), 3);

    let next = thread(2).run(question()).await.unwrap();
    assert_eq!(length(next.state()), 5);

    let failed = thread(1).run(question()).await;
    assert_eq!(bound_of_tools(failed), Some(1));
    let failed = thread(1).proceed().await;
    assert_eq!(bound_of_tools(failed), Some(1));
    let rest = thread(2).proceed().await.unwrap();
    assert_eq!(length(rest.state()), 10);
}

#[tokio::test]
async fn a_thread_goes_on_behind_an_answer_with_too_many_calls() {
    goes_on_behind_too_many_calls(|agent| agent).await;
}

#[tokio::test]
async fn a_thread_goes_on_behind_too_many_calls_with_middleware_behind_the_model() {
    goes_on_behind_too_many_calls(|agent| agent.with(Behind)).await;
}
