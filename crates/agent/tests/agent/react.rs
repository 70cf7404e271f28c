//! The loop of a model and its tools.

use std::sync::Arc;

use langgraph::message::{ToolCall, ToolResult};
use langgraph::prelude::*;
use langgraph_agent::{
    FnTool, MessagesState, MessagesStateUpdate, ScriptedModel, StandIn, ToolRoute, Turn,
    check_answered, react_agent, tools_condition,
};
use serde_json::json;

use super::support::{asks_the_time, call, clock};

#[tokio::test]
async fn react_agent_loops_until_the_model_answers() {
    let model = ScriptedModel::new([
        asks_the_time("c1"),
        asks_the_time("c2"),
        Turn::text("noon, twice"),
    ]);
    let agent = react_agent(model.clone(), (clock(),))
        .prompt("You have a clock.")
        .name("clockwork")
        .compile()
        .unwrap();
    assert_eq!(agent.topology().name, "clockwork");
    let state = agent
        .invoke(MessagesStateUpdate::user("time?"))
        .await
        .unwrap();
    assert_eq!(state.messages.len(), 6);
    assert_eq!(state.messages[5].text(), "noon, twice");
    assert!(model.requests()[2].messages[0].is_system());
    assert!(!state.messages.iter().any(Message::is_system));
}

#[tokio::test]
async fn a_react_agent_works_on_its_own_and_as_a_node() {
    let agent = || {
        let model = ScriptedModel::new([asks_the_time("c1"), Turn::text("noon")]);
        react_agent(model, (clock(),)).name("clockwork")
    };
    let asked = MessagesState {
        messages: vec![Message::user("time?")],
        ..MessagesState::default()
    };
    let alone = agent().run(asked.clone()).await.unwrap();
    assert_eq!(alone.messages.len(), 4);
    assert_eq!(Agent::name(&agent()), "clockwork");

    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("ask", agent())
        .add_node("ask again", agent().compile().unwrap())
        .add_sequence(&["ask", "ask again"]);
    let graph = graph.compile().unwrap();
    let inside = |node: usize| graph.topology().nodes[node].kind.clone();
    assert_eq!(inside(0), inside(1));
    let state = graph.invoke(asked).await.unwrap();
    let texts: Vec<_> = state.messages.iter().map(Message::text).collect();
    let now = "2024-01-01 12:00:00";
    assert_eq!(texts, ["time?", "", now, "noon", "", now, "noon"]);
}

#[tokio::test]
async fn react_agent_says_so_when_no_steps_are_left_for_its_tools() {
    // The model speaks in the steps 1, 3, 5, …: a limit of n leaves room for (n + 1) / 2 answers.
    for limit in 1..8 {
        let turns = (0..10).map(|n| asks_the_time(&format!("c{n}")));
        let model = ScriptedModel::new(turns);
        let agent = react_agent(model.clone(), (clock(),)).compile().unwrap();
        let run = agent.run(MessagesStateUpdate::user("time?")).limit(limit);
        let state = run.await.unwrap().finished().unwrap();
        assert_eq!(model.requests().len(), limit.div_ceil(2), "limit {limit}");
        let last = state.messages.last().unwrap();
        assert_eq!(
            last.text(),
            "Sorry, need more steps to process this request."
        );
        check_answered(&state.messages).unwrap();
    }
}

#[tokio::test]
async fn react_agent_stops_at_the_answer_of_a_tool_that_answers_for_it() {
    let model = ScriptedModel::new([asks_the_time("c1")]);
    let agent = react_agent(model, (clock().return_directly(),));
    let state = agent
        .compile()
        .unwrap()
        .invoke(MessagesStateUpdate::user("time?"))
        .await
        .unwrap();
    assert_eq!(state.messages.last().unwrap().text(), "2024-01-01 12:00:00");
}

#[tokio::test]
async fn react_agent_goes_on_beside_a_tool_that_answers_for_it_in_whatever_order() {
    let direct = || clock().return_directly();
    let other = || FnTool::new("zone", "The zone.", || async { "UTC" });
    let (first, second) = (
        call("c1", "get_current_time", json!({})),
        call("c2", "zone", json!({})),
    );
    for calls in [[first.clone(), second.clone()], [second, first]] {
        let model = ScriptedModel::new([Turn::tool_calls(calls), Turn::text("noon in UTC")]);
        let agent = react_agent(model, (direct(), other())).compile().unwrap();
        let state = agent
            .invoke(MessagesStateUpdate::user("time?"))
            .await
            .unwrap();
        assert_eq!(state.messages.last().unwrap().text(), "noon in UTC");
    }
}

/// Answers in the place of a tool, and does not repeat its name.
struct Rehearsed;

impl StandIn for Rehearsed {
    fn tool(&self, call: &ToolCall, _: &Context) -> Option<Result<ToolResult, NodeError>> {
        Some(Ok(ToolResult::new(&call.id, "rehearsed")))
    }
}

#[tokio::test]
async fn a_rehearsal_ends_where_the_agent_ends() {
    let model = ScriptedModel::new([asks_the_time("c1")]);
    let agent = react_agent(model, (clock().return_directly(),))
        .compile()
        .unwrap();
    let run = agent.run(MessagesStateUpdate::user("time?"));
    let run = run.resource::<dyn StandIn>(Arc::new(Rehearsed));
    let state = run.await.unwrap().finished().unwrap();
    assert_eq!(state.messages.last().unwrap().text(), "rehearsed");
}

#[tokio::test]
async fn a_chat_with_unanswered_tool_calls_is_refused() {
    let agent = react_agent(ScriptedModel::new(["never"]), (clock(),));
    let calls = [call("c1", "get_current_time", json!({}))];
    let input = MessagesStateUpdate::default().messages(vec![
        Message::user("time?"),
        Message::assistant_with_tool_calls("", calls),
        Message::user("well?"),
    ]);
    let error = agent.compile().unwrap().invoke(input).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `agent` failed: the chat has tool calls without an answer: `get_current_time` (call `c1`); \
         add a tool message for each call, or remove the message that asks"
    );
}

#[test]
fn tools_condition_looks_at_the_last_message() {
    let state = |message| MessagesState {
        messages: vec![message],
        ..MessagesState::default()
    };
    let calls = [call("c1", "t", json!({}))];
    let asking = state(Message::assistant_with_tool_calls("", calls));
    assert_eq!(tools_condition(&asking), Ok(ToolRoute::Tools));
    assert_eq!(
        tools_condition(&state(Message::assistant("done"))),
        Ok(ToolRoute::End)
    );
    let error = tools_condition(&MessagesState::default()).unwrap_err();
    assert!(error.to_string().starts_with("no message found"));
}
