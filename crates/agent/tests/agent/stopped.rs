//! Threads behind runs that have stopped between a message with calls and their answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use langgraph::checkpoint::{CheckpointId, MemorySaver};
use langgraph::error::AgentError;
use langgraph::graph::CompiledStateGraph;
use langgraph::prelude::*;
use langgraph::run::Outcome;
use langgraph::thread::{OnOpenInterrupt, Thread};
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentContext, AgentUpdate, FnTool, MessagesState, MessagesStateUpdate, ModelNode, ReactAgent,
    ReactState, ReactStateUpdate, ScriptedModel, ToolAgent, ToolAgentStateUpdate, ToolErrors,
    Tools, Turn, WhatNext, act, observe, react_agent, think, what_next,
};
use serde_json::json;

use super::support::{asks_the_time, call, clock, shown};

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

/// Checks that the answers of all calls follow the message that asks, one for each.
fn check_order(messages: &[Message]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if let Some(result) = message.tool_result() {
            let call = open.iter().position(|id| *id == &*result.call_id);
            open.remove(call.unwrap());
        } else {
            assert_eq!(open, [""; 0], "answers stand before {message:?}");
            open.extend(message.tool_calls().iter().map(|call| &*call.id));
        }
    }
    assert_eq!(open, [""; 0]);
}

/// Returns the number of messages of a chat, each of whose calls has an answer.
fn length(state: &MessagesState) -> usize {
    check_order(&state.messages);
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

/// A tool that never answers.
fn endless() -> FnTool {
    FnTool::new("endless", "Never ends.", || async {
        std::future::pending::<()>().await;
    })
}

/// A model that asks for the time and for a tool, and then speaks.
fn asks_for_time_and(tool: &str) -> ScriptedModel {
    let calls = [
        call("c1", "get_current_time", json!({})),
        call("c2", tool, json!({})),
    ];
    ScriptedModel::new([
        Turn::tool_calls(calls),
        Turn::text("It is noon."),
        Turn::text("Still noon."),
    ])
}

fn kept(agent: CompiledStateGraph<MessagesState>) -> Thread<MessagesState> {
    agent.checkpointer(Arc::new(MemorySaver::new())).thread("t")
}

fn hello() -> MessagesStateUpdate {
    MessagesStateUpdate::user("Hello?")
}

/// Sends two messages on a thread whose run has stopped between calls and their answers. Returns the texts of the
/// chat.
async fn goes_on(thread: &Thread<MessagesState>, model: &ScriptedModel) -> Vec<String> {
    for _ in 0..2 {
        thread.run(hello()).await.unwrap();
    }
    for request in model.requests() {
        check_order(&request.messages);
    }
    let stored = thread.state().await.unwrap().unwrap().values.messages;
    check_order(&stored);
    let texts = shown(&stored).into_iter().map(|(_, text)| text);
    texts.collect()
}

const CLOSED: &str = "not answered: the user wrote something else first";

#[tokio::test(start_paused = true)]
async fn a_new_message_closes_the_calls_of_a_run_that_was_stopped() {
    let model = asks_for_time_and("endless");
    let agent = react_agent(model.clone(), (clock(), endless()));
    let thread = kept(agent.compile().unwrap());
    let run = thread.run(MessagesStateUpdate::user("What time is it?"));
    tokio::time::timeout(Duration::from_secs(5), run)
        .await
        .unwrap_err();
    // What has ended is kept, and only the other call is closed.
    assert_eq!(
        goes_on(&thread, &model).await,
        [
            "What time is it?",
            "",
            "2024-01-01 12:00:00",
            CLOSED,
            "Hello?",
            "It is noon.",
            "Hello?",
            "Still noon."
        ]
    );
}

#[tokio::test]
async fn a_new_message_closes_the_calls_of_a_run_that_has_failed() {
    let broken = FnTool::new("broken", "Fails.", || async {
        Err::<String, _>(ToolError::model("no"))
    });
    let model = asks_for_time_and("broken");
    let agent = react_agent(model.clone(), (clock(), broken)).with(ToolErrors::fail());
    let thread = kept(agent.compile().unwrap());
    thread.run(hello()).await.unwrap_err();
    assert_eq!(goes_on(&thread, &model).await.len(), 8);
}

/// Fails once.
struct FailsOnce(AtomicBool);

#[middleware]
impl AgentMiddleware for FailsOnce {
    async fn after_model(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        if self.0.swap(true, Ordering::Relaxed) {
            return Ok(AgentUpdate::default());
        }
        Err(NodeError::msg("the first time fails"))
    }
}

#[tokio::test]
async fn a_new_message_closes_the_calls_behind_middleware_that_has_failed() {
    let model = asks_for_time_and("get_current_time");
    let agent = react_agent(model.clone(), (clock(),)).with(FailsOnce(AtomicBool::new(false)));
    let thread = kept(agent.compile().unwrap());
    thread.run(hello()).await.unwrap_err();
    let texts = goes_on(&thread, &model).await;
    assert_eq!(texts.iter().filter(|text| **text == CLOSED).count(), 2);
}

#[tokio::test]
async fn a_new_message_at_a_breakpoint_closes_the_calls_behind_it() {
    let model = asks_for_time_and("get_current_time");
    let mut agent = react_agent(model.clone(), (clock(),)).into_graph().unwrap();
    agent.interrupt_before(["tools"]);
    let thread = kept(agent.compile().unwrap());
    thread.run(hello()).await.unwrap();
    let texts = goes_on(&thread, &model).await;
    assert_eq!(texts.iter().filter(|text| **text == CLOSED).count(), 2);
}

#[tokio::test]
async fn an_input_may_answer_the_calls_of_a_run_that_was_stopped_or_remove_them() {
    for (repairs, messages) in [(true, 5), (false, 3)] {
        let model = asks_for_time_and("get_current_time");
        let mut agent = react_agent(model.clone(), (clock(),)).into_graph().unwrap();
        agent.interrupt_before(["tools"]);
        let thread = kept(agent.compile().unwrap());
        let outcome = thread.run(hello()).await.unwrap();
        let asks = outcome.state().messages[1].id.clone();
        let input = if repairs {
            ["c1", "c2"].map(|call| Message::tool(call, "midnight"))
        } else {
            [Message::remove(asks.unwrap()), Message::user("Hello?")]
        };
        let input = MessagesStateUpdate::default().messages(input.into());
        let state = thread.run(input).await.unwrap().finished().unwrap();
        assert_eq!(length(&state), messages);
        let texts = shown(&state.messages);
        assert!(texts.iter().all(|(_, text)| text != CLOSED), "{texts:?}");
    }
}

/// Asks the time on a thread, and returns where the run was between the calls and their answers.
async fn between_calls_and_answers(thread: &Thread<MessagesState>) -> CheckpointId {
    thread.run(hello()).await.unwrap();
    let history = thread.history().await.unwrap();
    let mut waiting = history.into_iter();
    let waiting = waiting.find(|snapshot| snapshot.next.iter().any(|next| **next == *"tools"));
    waiting.unwrap().id
}

#[tokio::test]
async fn a_new_message_at_an_older_checkpoint_closes_the_calls_that_are_open_there() {
    let model = asks_for_time_and("get_current_time");
    let agent = react_agent(model.clone(), (clock(),));
    let thread = kept(agent.compile().unwrap());
    let between = between_calls_and_answers(&thread).await;
    let run = thread.at(between).run(MessagesStateUpdate::user("No."));
    let state = run.await.unwrap().finished().unwrap();
    check_order(&state.messages);
    // What the tools have answered belongs to the other branch.
    let texts = shown(&state.messages).into_iter().map(|(_, text)| text);
    let texts: Vec<_> = texts.collect();
    assert_eq!(texts, ["Hello?", "", CLOSED, CLOSED, "No.", "Still noon."]);
    let drawn = thread.history().await.unwrap();
    assert_eq!(
        drawn
            .iter()
            .filter(|snapshot| snapshot.parent == Some(between))
            .count(),
        2
    );
}

#[tokio::test]
async fn an_input_at_an_older_checkpoint_may_answer_the_calls_that_are_open_there() {
    let model = asks_for_time_and("get_current_time");
    let agent = react_agent(model.clone(), (clock(),));
    let thread = kept(agent.compile().unwrap());
    let between = between_calls_and_answers(&thread).await;
    let answers = ["c1", "c2"].map(|call| Message::tool(call, "midnight"));
    let answers = MessagesStateUpdate::default().messages(answers.into());
    let run = thread.at(between).run(answers).await.unwrap();
    let texts = shown(&run.state().messages)
        .into_iter()
        .map(|(_, text)| text);
    let texts: Vec<_> = texts.collect();
    assert_eq!(texts, ["Hello?", "", "midnight", "midnight", "Still noon."]);
}

#[tokio::test]
async fn an_input_that_answers_a_closed_call_again_closes_those_that_are_open() {
    let model = ScriptedModel::new([
        asks_the_time("c1"),
        asks_the_time("c2"),
        Turn::text("It is noon."),
    ]);
    let mut agent = react_agent(model.clone(), (clock(),)).into_graph().unwrap();
    agent.interrupt_before(["tools"]);
    let thread = kept(agent.compile().unwrap());
    thread.run(hello()).await.unwrap();
    let asked = thread.proceed().await.unwrap();
    let answer = asked.state().messages[2].clone();
    // No model takes this chat, so the run stops with a message behind the open call.
    let drops = thread.run(hello()).on_open_interrupt(OnOpenInterrupt::Drop);
    drops.await.unwrap_err();

    let again = Message::tool("c1", "midnight").replacing(&answer);
    let input = MessagesStateUpdate::default().messages(vec![again, Message::user("Now?")]);
    let state = thread.run(input).await.unwrap().finished().unwrap();
    check_order(&state.messages);
    let texts = shown(&state.messages).into_iter().map(|(_, text)| text);
    let texts: Vec<_> = texts.collect();
    let expected = [
        "Hello?",
        "",
        "midnight",
        "",
        CLOSED,
        "Hello?",
        "Now?",
        "It is noon.",
    ];
    assert_eq!(texts, expected);
}

#[tokio::test(start_paused = true)]
async fn a_tool_agent_goes_on_behind_a_run_that_was_stopped() {
    let model = asks_for_time_and("endless");
    let agent = ToolAgent::new(model.clone(), (clock(), endless())).graph();
    let agent = agent.compile().unwrap();
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let hello = || ToolAgentStateUpdate::default().messages(vec![Message::user("Hello?")]);
    let run = thread.run(hello());
    tokio::time::timeout(Duration::from_secs(5), run)
        .await
        .unwrap_err();
    let state = thread.run(hello()).await.unwrap().finished().unwrap();
    check_order(&state.messages);
    assert_eq!(state.messages.len(), 6);
}

#[tokio::test]
async fn results_that_were_not_observed_are_left_out_of_the_next_turn() {
    let model = ScriptedModel::new([
        asks_the_time("c1"),
        asks_the_time("c2"),
        Turn::text("It is noon."),
    ]);
    let tools = Tools::new().with(clock());
    let mut graph = graph! {
        type State = ReactState;
        let think = think(ModelNode::new(model).tools(&tools));
        let act = act(&tools);
        START => think => act => observe => match what_next {
            WhatNext::Think => think,
            WhatNext::Stop => END,
        };
    };
    graph.interrupt_before(["observe"]);
    let agent = graph.compile().unwrap();
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let hello = || ReactStateUpdate::default().messages(vec![Message::user("Hello?")]);
    thread.run(hello()).await.unwrap();
    thread.run(hello()).await.unwrap();
    thread.proceed().await.unwrap();
    let state = thread.proceed().await.unwrap().finished().unwrap();
    check_order(&state.messages);
    assert_eq!(state.messages.len(), 7);
}
