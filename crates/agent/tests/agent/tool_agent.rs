//! An agent that calls tools until it has its answer.

use std::sync::{Arc, Mutex};

use langgraph::message::{Role, ToolStatus};
use langgraph::prelude::*;
use langgraph_agent::{
    FnTool, NextAction, ScriptedModel, ToolAgent, ToolAgentState, Tools, Turn, check_answered,
};
use serde_json::json;

use super::support::{asks_the_time, clock, shown};

#[tokio::test]
async fn g6_tool_agent_returns_the_time() {
    let model = ScriptedModel::new([
        asks_the_time("call_1"),
        Turn::text("现在是 2024-01-01 12:00:00"),
    ]);
    let agent = ToolAgent::new(model.clone(), (clock(),));

    let graph = agent.graph().compile().unwrap();
    let mut events = graph
        .run(ToolAgentState::user("现在几点了？"))
        .stream(StreamMode::Values);
    let mut steps = Vec::new();
    while let Some(event) = events.next().await {
        let state = event.unwrap().values().unwrap().clone();
        steps.push((
            state.messages.len(),
            state.next_action.as_str(),
            state.iterations,
        ));
    }
    assert_eq!(
        steps,
        [(1, "", 0), (2, "tool", 1), (3, "agent", 1), (4, "end", 2)]
    );

    let state = events.finish().await.unwrap().finished().unwrap();
    assert_eq!(
        shown(&state.messages),
        [
            (Role::User, "现在几点了？".to_owned()),
            (Role::Assistant, String::new()),
            (Role::Tool, "2024-01-01 12:00:00".to_owned()),
            (Role::Assistant, "现在是 2024-01-01 12:00:00".to_owned()),
        ]
    );
    assert_eq!(state.messages[1].tool_calls()[0].id, "call_1");
    assert_eq!(state.messages[2].tool_result().unwrap().call_id, "call_1");
    // The second request shows the model what its tool said.
    assert_eq!(
        shown(&model.requests()[1].messages),
        shown(&state.messages[..3])
    );
    assert!(!state.reached_limit());
}

#[tokio::test]
async fn g7_tools_are_sent_only_when_there_are_some() {
    let model = ScriptedModel::new(["hi", "hi"]);
    for tools in [Tools::new(), Tools::new().with(clock())] {
        let agent = ToolAgent::new(model.clone(), tools);
        agent.run(ToolAgentState::user("hi")).await.unwrap();
    }
    let requests = model.requests();
    assert!(requests[0].tools.is_empty());
    assert_eq!(requests[1].tools[0].name, "get_current_time");
    assert_eq!(requests[1].tools[0].description, "The current time.");
    assert_eq!(
        requests[1].tools[0].parameters,
        json!({"type": "object", "properties": {}})
    );
}

#[tokio::test]
async fn g8_a_tool_error_is_sent_to_the_model_and_the_run_goes_on() {
    #[derive(Debug)]
    struct NoClock;
    impl std::fmt::Display for NoClock {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the clock is broken")
        }
    }
    impl std::error::Error for NoClock {}

    let broken = FnTool::new("get_current_time", "", || async {
        Err::<String, _>(NoClock)
    });
    let model = ScriptedModel::new([asks_the_time("c7"), Turn::text("I do not know.")]);
    let agent = ToolAgent::new(model.clone(), (broken,));

    let state = agent.run(ToolAgentState::user("time?")).await.unwrap();

    let result = state.messages[2].tool_result().unwrap();
    assert_eq!(result.call_id, "c7");
    assert_eq!(result.status, ToolStatus::Error);
    assert_eq!(
        result.content.text(),
        "Error: the clock is broken\n Please fix your mistakes."
    );
    assert_eq!(state.reply().unwrap().text(), "I do not know.");
    assert!(
        model.requests()[1].messages[2]
            .text()
            .contains("clock is broken")
    );
}

#[tokio::test]
async fn g11_max_iterations_is_checked_before_the_tools() {
    for limit in [0, 1, 2, 5] {
        let ran = Arc::new(Mutex::new(0));
        let count = Arc::clone(&ran);
        let tool = FnTool::new("get_current_time", "", move || {
            *count.lock().unwrap() += 1;
            async { "noon" }
        });
        let turns = (0..limit + 3).map(|n| asks_the_time(&format!("c{n}")));
        let model = ScriptedModel::new(turns);
        let agent = ToolAgent::new(model.clone(), (tool,)).max_iterations(limit);

        let state = agent.run(ToolAgentState::user("time?")).await.unwrap();

        assert_eq!(state.iterations, limit);
        assert_eq!(model.requests().len(), limit);
        let bounds = agent.graph().compile().unwrap().bounds().unwrap();
        assert_eq!(bounds.calls.model, limit as u64);
        assert_eq!(*ran.lock().unwrap(), limit.saturating_sub(1));
        assert!(state.reached_limit());
        assert_eq!(state.next_action, NextAction::MaxIterations);
        check_answered(&state.messages).unwrap();
        assert_eq!(
            state.reply().unwrap().text(),
            "Sorry, need more steps to process this request."
        );
    }
}

#[tokio::test]
async fn a_new_question_in_the_same_chat_counts_its_own_iterations() {
    let model = ScriptedModel::new([
        asks_the_time("c1"),
        Turn::text("noon"),
        asks_the_time("c2"),
        Turn::text("still noon"),
    ]);
    let agent = ToolAgent::new(model, (clock(),)).max_iterations(2);
    let mut state = agent.run(ToolAgentState::user("time?")).await.unwrap();
    assert!(!state.reached_limit());
    state.messages.push(Message::user("and now?"));
    let state = agent.run(state).await.unwrap();
    assert_eq!((state.iterations, state.messages.len()), (2, 8));
    assert_eq!(state.reply().unwrap().text(), "still noon");
}

#[tokio::test]
async fn tool_agent_ends_with_the_answer_of_a_tool_that_answers_for_it() {
    let model = ScriptedModel::new([asks_the_time("c1")]);
    let agent = ToolAgent::new(model, (clock().return_directly(),));
    let state = agent.run(ToolAgentState::user("time?")).await.unwrap();
    assert_eq!(state.messages.last().unwrap().text(), "2024-01-01 12:00:00");
    assert_eq!((state.next_action, state.iterations), (NextAction::End, 1));
}
