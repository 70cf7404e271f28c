//! Calls of tools that a model judges.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph_agent::{
    FnTool, HumanInTheLoop, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn, react_agent,
};
use langgraph_middleware::AutoMode;
use serde_json::json;

use super::support::{ask, call, texts};

/// Returns a tool that counts its calls.
fn counting(name: &str, calls: &Arc<AtomicUsize>) -> FnTool {
    let calls = Arc::clone(calls);
    FnTool::new(name, "Deletes all files.", move |_: serde_json::Value| {
        calls.fetch_add(1, Ordering::Relaxed);
        async { "gone" }
    })
}

fn model() -> ScriptedModel {
    ScriptedModel::new([
        Turn::tool_calls([
            call("c1", "wipe", json!({"folder": "/tmp"})),
            call("c2", "look", json!({})),
        ]),
        Turn::text("done"),
    ])
}

#[tokio::test]
async fn a_risky_call_is_blocked_and_the_others_run() {
    let (wiped, looked) = (Arc::default(), Arc::default());
    let judge = ScriptedModel::new([r#"{"blocked": true, "why": "Nobody asked."}"#]);
    let tools = (counting("wipe", &wiped), counting("look", &looked));
    let auto = AutoMode::new(["wipe"], judge.clone());
    let state = ask(react_agent(model(), tools), auto, "Look!").await;
    let blocked = "the call of `wipe` was blocked, and nothing was done: Nobody asked.";
    assert_eq!(texts(&state.messages)[2..4], [blocked, "gone"]);
    assert!(state.messages[2].tool_result().unwrap().is_error());
    let counts = [&wiped, &looked].map(|calls| calls.load(Ordering::Relaxed));
    assert_eq!(counts, [0, 1]);

    let request = texts(&judge.requests()[0].messages);
    assert!(
        request[0].contains("`wipe`: Deletes all files."),
        "{request:?}"
    );
    assert!(request[1].contains("user: Look!"), "{request:?}");
    assert!(
        request[1].contains(r#"wipe {"folder":"/tmp"}"#),
        "{request:?}"
    );
}

#[tokio::test]
async fn a_call_without_a_judgement_does_not_run() {
    let wiped = Arc::default();
    let judge = ScriptedModel::new(Vec::<Turn>::new());
    let tools = (counting("wipe", &wiped), counting("look", &Arc::default()));
    let agent = react_agent(model(), tools).with(AutoMode::new(["wipe"], judge));
    let run = agent.compile().unwrap().run(MessagesStateUpdate::user("?"));
    assert!(run.await.is_err());
    assert_eq!(wiped.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_is_judged_once() {
    let wiped = Arc::default();
    let judge = ScriptedModel::new([r#"{"blocked": false, "why": "It was asked for."}"#]);
    let tools = (counting("wipe", &wiped), counting("look", &Arc::default()));
    let auto = AutoMode::new(["wipe"], judge.clone()).rule("Block nothing.");
    let agent = react_agent(model(), tools).with((auto, HumanInTheLoop::new("wipe")));
    let agent = agent
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    thread
        .run(MessagesStateUpdate::user("Wipe!"))
        .await
        .unwrap();
    assert_eq!(wiped.load(Ordering::Relaxed), 0);
    thread.resume("c1", ToolDecision::Approve).await.unwrap();
    assert_eq!(wiped.load(Ordering::Relaxed), 1);
    assert_eq!(judge.requests().len(), 1);
}

#[tokio::test]
async fn each_of_two_judges_judges_a_call() {
    let wiped = Arc::default();
    let allows = || ScriptedModel::new([r#"{"blocked": false, "why": "It was asked for."}"#]);
    let blocks = || ScriptedModel::new([r#"{"blocked": true, "why": "Nobody asked."}"#]);
    let tools = || (counting("wipe", &wiped), counting("look", &Arc::default()));
    let lax = || AutoMode::new(["wipe"], allows()).rule("Block what deletes a home.");
    let strict = AutoMode::new(["wipe"], blocks()).rule("Block what deletes files.");
    ask(react_agent(model(), tools()), (lax(), strict), "Look!").await;
    let other = AutoMode::new(["wipe"], blocks().named("other")).rule("Block what deletes a home.");
    ask(react_agent(model(), tools()), (lax(), other), "Look!").await;
    assert_eq!(wiped.load(Ordering::Relaxed), 0);
}

#[test]
fn a_tool_that_is_not_there_is_refused() {
    let auto = AutoMode::new(["wipe"], ScriptedModel::new(["hi"]));
    let error = react_agent(ScriptedModel::new(["hi"]), ())
        .with(auto)
        .compile();
    assert!(error.unwrap_err().to_string().contains("`wipe`"));
}
