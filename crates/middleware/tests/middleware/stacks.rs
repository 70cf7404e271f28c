//! Middleware side by side, on threads with parallel calls, approvals, failing tools and dismissed questions.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph::run::Outcome;
use langgraph::thread::OnOpenInterrupt;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    FnTool, HumanInTheLoop, MessagesState, MessagesStateUpdate, ModelFallback, ModelRetry,
    ReactAgent, ScriptedModel, ToolCaching, ToolDecision, ToolErrors, ToolRetry, Turn, react_agent,
};
use langgraph_middleware::{
    ContextEditing, GuardVerdict, LongTermMemory, ModelCallLimit, ModelRouter, Moderation,
    PatchToolCalls, Pii, PiiDetector, PiiStrategy, Rubric, Summarization, TodoList, ToolCallLimit,
    ToolEmulator, ToolSelector, TrimMessages,
};
use langgraph_store::{MemoryStore, Namespace, WithStore as _};

use super::support::{calls, tool};

/// Checks that each call is answered once, by the messages that follow it.
fn check(messages: &[Message], of: &str) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if let Some(result) = message.tool_result() {
            let call = open.iter().position(|id| *id == &*result.call_id);
            assert!(call.is_some(), "{of}: no open call for {message:?}");
            call.map(|call| open.remove(call));
        } else {
            assert_eq!(open, [""; 0], "{of}: open before {message:?}");
            open.extend(message.tool_calls().iter().map(|call| &*call.id));
        }
    }
    assert_eq!(open, [""; 0], "{of}: open at the end");
}

/// A model that says the same each time.
fn says(text: &str) -> ScriptedModel {
    ScriptedModel::new(vec![text; 40])
}

/// Answers what waits: approves the first time, and rejects after that.
async fn answered(
    thread: &Thread<MessagesState>,
    mut outcome: Outcome<MessagesState>,
) -> MessagesState {
    let mut decisions = [ToolDecision::Approve].into_iter();
    while let [asked, ..] = outcome.interrupts() {
        let decision = decisions.next();
        let decision = decision.unwrap_or_else(|| ToolDecision::reject("no"));
        let resumed = thread.resume(asked.key.clone(), decision).await;
        outcome = resumed.unwrap();
    }
    outcome.finished().unwrap()
}

/// Runs an agent with the middleware over several turns: with parallel calls of which one fails and two wait for
/// approvals, a new message in the place of an approval, and turns behind it.
async fn holds(of: &str, with: impl Fn(ReactAgent) -> ReactAgent) {
    let model = ScriptedModel::new([
        calls(&[
            ("c1", "search"),
            ("c2", "broken"),
            ("c3", "wipe"),
            ("c4", "wipe"),
        ]),
        Turn::text("one"),
        calls(&[("c5", "wipe"), ("c6", "search")]),
        Turn::text("two"),
        calls(&[("c7", "read")]),
        Turn::text("three"),
        Turn::text("four"),
        Turn::text("five"),
        Turn::text("six"),
        Turn::text("seven"),
        Turn::text("eight"),
    ]);
    let broken = FnTool::new("broken", "Fails.", || async {
        Err::<String, _>(ToolError::model("broken"))
    });
    let tools = (tool("search"), tool("read"), tool("wipe"), broken);
    let agent = with(react_agent(model.clone(), tools)).compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.store(Arc::new(MemoryStore::new())).thread("t");
    let says = |text: &str| MessagesStateUpdate::user(text.to_owned());

    let outcome = thread.run(says("I am ada@example.org.")).await;
    let state = answered(&thread, outcome.unwrap()).await;
    check(&state.messages, of);
    // A question may stay open here, which the next message closes.
    thread.run(says("Again.")).await.unwrap();
    for text in ["Never mind.", "And now?"] {
        let run = thread.run(says(text));
        let outcome = run.on_open_interrupt(OnOpenInterrupt::Dismiss).await;
        let state = answered(&thread, outcome.unwrap()).await;
        check(&state.messages, of);
    }
    assert!(model.requests().len() > 4, "{of}");
    for request in model.requests() {
        check(&request.messages, of);
    }
}

fn asks() -> HumanInTheLoop {
    HumanInTheLoop::new("wipe")
}

fn shortens() -> Summarization {
    Summarization::new(says("summary")).above(60).keep(30)
}

fn retries() -> ToolRetry {
    ToolRetry::policy(RetryPolicy::attempts(2).immediately())
}

fn hides() -> Pii {
    Pii::new(PiiDetector::email(), PiiStrategy::Redact).tool_results()
}

fn remembers() -> LongTermMemory {
    LongTermMemory::new(|_| Namespace::from(["ada"]))
}

#[tokio::test]
async fn stacks_around_approvals_answer_each_call_once() {
    holds("alone", |agent| agent.with(asks())).await;
    holds("retries inside", |agent| {
        agent.with((asks(), retries(), PatchToolCalls))
    })
    .await;
    holds("retries outside", |agent| {
        agent.with((PatchToolCalls, retries(), asks()))
    })
    .await;
    holds("stood in for", |agent| {
        let emulator = ToolEmulator::of(says("emulated"), ["wipe"]);
        agent.with((PatchToolCalls, asks(), emulator))
    })
    .await;
    holds("cached", |agent| {
        let caching = ToolCaching::new(["search"], Duration::from_secs(60));
        agent.with((TrimMessages::to(40), asks(), caching, retries()))
    })
    .await;
    holds("limited", |agent| {
        let limits = (ToolCallLimit::new().per_run(2), ModelCallLimit::per_run(3));
        agent.with(limits).with((PatchToolCalls, asks()))
    })
    .await;
}

#[tokio::test]
async fn stacks_that_rewrite_the_chat_answer_each_call_once() {
    holds("patch, summary", |agent| {
        agent.with((PatchToolCalls, shortens(), asks()))
    })
    .await;
    holds("summary, patch", |agent| {
        let lean = ContextEditing::above(20).keep(1);
        agent.with((shortens(), PatchToolCalls, lean, asks()))
    })
    .await;
    holds("hidden, summary", |agent| {
        let errors = ToolErrors::describe(|call, error| format!("{}: {error}", call.name));
        agent.with((hides(), shortens(), TodoList::new(), asks(), errors))
    })
    .await;
    holds("memory, summary", |agent| {
        agent.with((remembers(), shortens(), asks()))
    })
    .await;
}

#[tokio::test]
async fn stacks_that_choose_and_judge_answer_each_call_once() {
    holds("chosen", |agent| {
        let chosen = says(r#"{"tools": ["search", "wipe"]}"#);
        let models = (
            ModelRouter::new(),
            ModelRetry::attempts(2),
            ModelFallback::to(says("no")),
        );
        agent
            .with((ToolSelector::new(chosen, 2), asks()))
            .with(models)
    })
    .await;
    holds("judged", |agent| {
        let output = |said: &Message| match &*said.text() {
            "one" => GuardVerdict::Replace("1".to_owned()),
            _ => GuardVerdict::Pass,
        };
        agent.with((Moderation::new().output(output), hides(), asks()))
    })
    .await;
    holds("graded", |agent| {
        let grades = says(r#"{"passes": false, "reasons": "too short"}"#);
        agent.with((
            Rubric::new(grades, "It is long.").revisions(1),
            shortens(),
            asks(),
        ))
    })
    .await;
}
