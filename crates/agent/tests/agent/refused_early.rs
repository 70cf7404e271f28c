//! What is known before a run, and what errors say about a later attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::is_transient;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AtLimit, Budget, FnTool, HumanInTheLoop, MessagesState, MessagesStateUpdate, ModelError,
    ModelErrorKind, ModelRetry, ScriptedModel, ToolCaching, ToolError, Turn, react_agent,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

#[derive(Deserialize, JsonSchema)]
struct Place {
    place: String,
}

fn call(id: &str, place: &str) -> Turn {
    Turn::tool_calls([ToolCall::new(id, "weather", json!({"place": place}))])
}

#[tokio::test]
async fn an_agent_that_asks_is_refused_without_a_checkpointer_before_its_model_is_asked() {
    let model = ScriptedModel::new(["never"]);
    let wipe = FnTool::new("wipe", "Empties the disk.", || async { "wiped" });
    let agent = react_agent(model.clone(), (wipe,))
        .with(HumanInTheLoop::new("wipe"))
        .compile()
        .unwrap();
    let error = agent
        .invoke(MessagesStateUpdate::user("Hi"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("checkpointer"), "{error}");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_budget_that_asks_is_refused_without_a_thread_before_its_limit() {
    let model = ScriptedModel::new(["never"]);
    let agent = react_agent(model.clone(), ()).compile().unwrap();
    let budget = || Arc::new(Budget::per_run().model_calls(5).at_limit(AtLimit::Ask));
    let run = agent
        .run(MessagesStateUpdate::user("Hi"))
        .resource(budget());
    let error = run.await.unwrap_err().to_string();
    assert!(error.contains("AtLimit::Fail"), "{error}");
    assert!(model.requests().is_empty());
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let run = agent
        .run(MessagesStateUpdate::user("Hi"))
        .thread("t")
        .resource(budget());
    run.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn any_retry_policy_knows_what_a_model_error_says_and_waits_as_it_asks() {
    let limited = || {
        let retry_after = Some(Duration::from_secs(90));
        ModelError::new(ModelErrorKind::RateLimited { retry_after }, "slow down")
    };
    let model = ScriptedModel::new([Turn::error(limited()), Turn::text("Hi.")]);
    let agent = react_agent(model, ())
        .with(ModelRetry::policy(2))
        .compile()
        .unwrap();
    let began = Instant::now();
    agent.invoke(MessagesStateUpdate::user("Hi")).await.unwrap();
    assert!(
        began.elapsed() >= Duration::from_secs(90),
        "{:?}",
        began.elapsed()
    );

    let source = std::io::Error::other("the wire is cut");
    let broken = ModelError::new(ModelErrorKind::Transport, "no answer").with_source(source);
    assert!(is_transient(&NodeError::from(broken)));
    let refused = ModelError::new(ModelErrorKind::Auth, "no key").with_source("who are you?");
    let cause = std::error::Error::source(&refused).map(ToString::to_string);
    assert_eq!(cause.as_deref(), Some("who are you?"));
    assert!(!is_transient(&NodeError::from(refused)));

    // What a program sees of a run that failed.
    let agent = react_agent(ScriptedModel::new([limited()]), ())
        .compile()
        .unwrap();
    let error = agent
        .invoke(MessagesStateUpdate::user("Hi"))
        .await
        .unwrap_err();
    assert!(error.is_retryable());
}

#[tokio::test(start_paused = true)]
async fn an_equal_call_is_answered_from_memory_whatever_its_id() {
    let asked = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&asked);
    let weather = FnTool::new("weather", "The weather.", move |Place { place }: Place| {
        let n = seen.fetch_add(1, Ordering::SeqCst);
        async move {
            match &*place {
                "Atlantis" => Err(ToolError::model("no such place")),
                _ => Ok(format!("{place}: sun {n}")),
            }
        }
    });
    let turns = [
        call("c1", "Rome"),
        call("c2", "Rome"),
        call("c3", "Oslo"),
        call("c4", "Atlantis"),
        call("c5", "Atlantis"),
        Turn::text("Done."),
        call("c6", "Rome"),
        Turn::text("Done."),
        call("c7", "Rome"),
        Turn::text("Done."),
    ];
    let ttl = Duration::from_secs(60);
    let agent = react_agent(ScriptedModel::new(turns), (weather,));
    let agent = agent
        .with(ToolCaching::new(["weather"], ttl))
        .compile()
        .unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[2].text(), "Rome: sun 0");
    let again = state.messages[4].tool_result().unwrap();
    assert_eq!(
        (&*again.call_id, &*again.content.text()),
        ("c2", "Rome: sun 0")
    );
    // Rome once, Oslo, and a failure is not kept.
    assert_eq!(asked.load(Ordering::SeqCst), 4);
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[2].text(), "Rome: sun 0");
    tokio::time::advance(ttl).await;
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[2].text(), "Rome: sun 4");
}

#[node]
async fn greet(_: &MessagesState) -> MessagesStateUpdate {
    MessagesStateUpdate::user("first")
}

#[node]
async fn think(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let reply = cx.model()?.invoke(&state.messages, cx).await?;
    Ok(MessagesStateUpdate::default().messages(vec![reply]))
}

/// Each asks for the model of its run.
fn agents() -> [CompiledStateGraph<MessagesState>; 2] {
    let by_hand = graph! { START => greet => think => END };
    let by_node = graph! {
        let think = ModelNode::of_the_run();

        START => greet => think => END;
    };
    [by_hand, by_node].map(|graph| graph.compile().unwrap())
}

#[tokio::test]
async fn a_model_that_is_given_as_its_own_type_is_found_before_any_node_runs() {
    for agent in agents() {
        let model = ScriptedModel::new(["hello"]);
        let run = agent.run(()).resource(Arc::new(model.clone()));
        let error = run.await.unwrap_err().to_string();
        let start = "node `think` cannot run: no resource of type `dyn langgraph_agent::";
        assert!(error.starts_with(start), "{error}");
        assert!(error.contains("with `.model(value)`"), "{error}");
        assert!(error.contains("ScriptedModel)"), "{error}");
        assert!(agent.invoke(()).await.is_err(), "there is none at all");

        let chat = agent
            .run(())
            .model(model)
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(chat.messages[1].text(), "hello");
    }
}
