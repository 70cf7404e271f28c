//! Cassettes, and the paths of runs.

use langgraph::message::{Message, ToolCall, Usage};
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
use langgraph_testing::{Cassette, CassetteError, Trace};
use serde_json::json;

/// Multiplies two numbers.
#[tool]
async fn multiply(a: i64, b: i64) -> i64 {
    a * b
}

fn script() -> ScriptedModel {
    ScriptedModel::new([
        Turn::tool_calls([
            ToolCall::new("c1", "multiply", json!({"a": 6, "b": 7})),
            ToolCall::new("c2", "multiply", json!({"a": 2, "b": 2})),
        ]),
        Turn::text("42 and 4.").with_usage(Usage::new(20, 4)),
    ])
}

fn question() -> MessagesStateUpdate {
    MessagesStateUpdate::user("6 * 7, 2 * 2?")
}

async fn ask(model: impl ChatModel + 'static) -> Trace<langgraph_agent::MessagesState> {
    Trace::of(
        react_agent(model, (multiply,))
            .compile()
            .unwrap()
            .run(question()),
    )
    .await
}

#[tokio::test]
async fn k8_a_recorded_agent_runs_the_same_again_without_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cassettes/agent.json");
    let recorded = ask(Cassette::record(&file, script()).unwrap()).await;
    let cassette = Cassette::replay(&file).unwrap();
    // The ids of messages differ from run to run.
    let replayed = ask(cassette.clone()).await;
    let texts = |trace: &Trace<langgraph_agent::MessagesState>| -> Vec<String> {
        let messages = &trace.outcome().unwrap().state().messages;
        messages
            .iter()
            .map(|message| message.text().into_owned())
            .collect()
    };
    assert_eq!(texts(&recorded), texts(&replayed));
    assert_eq!(texts(&replayed)[4], "42 and 4.");
    cassette.finish().unwrap();

    // All answers are used up.
    let error = ask(cassette).await;
    let error = error.outcome().unwrap_err().to_string();
    assert!(error.contains("all are replayed"), "{error}");
}

#[tokio::test]
async fn k8_a_request_that_was_not_recorded_shows_the_nearest_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.json");
    ask(Cassette::record(&file, script()).unwrap()).await;
    let cassette = Cassette::replay(&file).unwrap();
    let other = ChatRequest::new(vec![Message::user("6 * 8, 2 * 2?")]);
    let error = cassette
        .generate(other.clone())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("LANGGRAPH_RECORD=1"), "{error}");
    let changed = |mark: &str, text: &str| {
        error
            .lines()
            .any(|line| line.starts_with(mark) && line.contains(text))
    };
    assert!(changed("-", "6 * 7") && changed("+", "6 * 8"), "{error}");

    assert!(matches!(
        cassette.finish().unwrap_err(),
        CassetteError::Unused { unused: 2, .. }
    ));
    let missing = Cassette::replay(folder.path().join("none.json")).unwrap_err();
    assert!(missing.to_string().contains("record it with"), "{missing}");
}

#[tokio::test]
async fn k8_a_request_is_cleaned_before_it_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clock.json");
    let clean = |mut request: ChatRequest| {
        request.messages.retain(|message| !message.is_system());
        request
    };
    let at = |time: &str| ChatRequest::new(vec![Message::user("hi")]).system(time);
    let model = Cassette::record(&file, ScriptedModel::new(["hello"])).unwrap();
    let model = model.cleaned(clean).unwrap();
    model.generate(at("It is 12:00.")).await.unwrap();
    let stored = std::fs::read_to_string(&file).unwrap();
    assert!(!stored.contains("12:00"), "{stored}");
    let model = Cassette::replay(&file).unwrap().cleaned(clean).unwrap();
    let again = model.generate(at("It is 13:00.")).await.unwrap();
    assert_eq!(again.message.text(), "hello");
}

#[tokio::test]
async fn k8_a_wrong_path_is_caught() {
    let trace = ask(script()).await;
    trace.path_is(["agent", "tools", "tools", "agent"]).unwrap();
    trace.path_follows(["agent", "tools", "agent"]).unwrap();
    trace
        .path_in_any_order(["tools", "agent", "agent", "tools"])
        .unwrap();
    trace.path_contains(["tools", "tools"]).unwrap();
    trace.path_stays_within(["agent", "tools"]).unwrap();

    trace.path_is(["agent", "tools", "agent"]).unwrap_err();
    trace.path_follows(["tools", "agent", "tools"]).unwrap_err();
    trace.path_in_any_order(["agent", "tools"]).unwrap_err();
    trace
        .path_contains(["tools", "tools", "tools"])
        .unwrap_err();
    let error = trace.path_stays_within(["agent"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the run left the nodes\n  expected: agent\n  taken:    agent, tools, tools, agent"
    );
    let called: Vec<_> = trace.tool_calls().iter().map(|call| &*call.id).collect();
    assert_eq!(called, ["c1", "c2"]);
    assert!(trace.events().len() > 8);

    // A run that fails has a path too.
    let trace = ask(ScriptedModel::new([Turn::tool_calls([ToolCall::new(
        "c1",
        "multiply",
        json!({"a": 1, "b": 2}),
    )])]))
    .await;
    trace.outcome().unwrap_err();
    trace.path_follows(["agent", "tools"]).unwrap();
}
