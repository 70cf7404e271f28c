//! A support agent that hides personal data, remembers its users, and asks a person before it pays.
//! Run it with `cargo run --example support_agent -- approve`.

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::CompiledStateGraph;
use langgraph::message::ToolCall;
use langgraph::node::Context;
use langgraph_agent::{
    ApprovalRequest, FnTool, HumanInTheLoop, MessagesState, MessagesStateUpdate, ScriptedModel,
    ToolDecision, Turn, react_agent,
};
use langgraph_examples::show;
use langgraph_middleware::{LongTermMemory, MEMORIES, Pii, PiiDetector, PiiStrategy};
use langgraph_store::{MemoryStore, WithStore as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

#[derive(Deserialize, JsonSchema)]
struct Refund {
    /// The number of the order.
    order: u32,
}

/// A script in the place of a model.
fn model() -> ScriptedModel {
    let refund = ToolCall::new("r1", "refund", json!({"order": 7}));
    ScriptedModel::new([
        Turn::tool_calls([refund]),
        Turn::text("Order 7 is settled. We write to the address that we have."),
        Turn::text("Good morning! Is the new cup whole?"),
    ])
}

/// A script in the place of the model that extracts memories.
fn extractor() -> ScriptedModel {
    ScriptedModel::new([
        r#"{"memories": ["Got a broken cup with order 7."], "forget": []}"#,
        r#"{"memories": [], "forget": []}"#,
    ])
}

fn agent() -> Result<CompiledStateGraph<MessagesState>, Box<dyn std::error::Error>> {
    let refund = FnTool::new(
        "refund",
        "Pays an order back.",
        |refund: Refund| async move { format!("order {} is paid back", refund.order) },
    );
    let per_user = |cx: &Context| {
        let user = cx.metadata("user").and_then(|user| user.as_str());
        ["memories", user.unwrap_or("guest")].into()
    };
    let pii = Pii::new(PiiDetector::email(), PiiStrategy::Redact)
        .and(PiiDetector::credit_card(), PiiStrategy::Mask);
    Ok(react_agent(model(), (refund,))
        .name("support_agent")
        .with((
            pii,
            LongTermMemory::new(per_user).extract(extractor()),
            HumanInTheLoop::new("refund"),
        ))
        .compile()?
        .checkpointer(Arc::new(MemorySaver::new()))
        .store(Arc::new(MemoryStore::new())))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = agent()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    let decision = match std::env::args().nth(1).as_deref() {
        None | Some("approve") => ToolDecision::Approve,
        Some(reason) => ToolDecision::reject(reason),
    };
    let complaint =
        "The cup of order 7 is broken. My card is 4111 1111 1111 1111, write to ada@example.org.";
    let thread = agent.thread("monday");
    let run = thread.run(MessagesStateUpdate::user(complaint));
    let mut outcome = run.metadata("user", "ada").await?;
    while let Some(request) = outcome.interrupts().first().and_then(ApprovalRequest::of) {
        let arguments = request.call.arguments_text();
        println!("for approval: {} {arguments}", request.call.name);
        outcome = thread
            .resume(&*request.call.id, decision.clone())
            .metadata("user", "ada")
            .await?;
    }
    print(&outcome.finished()?);

    // Another thread of the same user.
    let run = agent
        .thread("tuesday")
        .run(MessagesStateUpdate::user("Hello, it is about the cup."));
    let state = run.metadata("user", "ada").await?.finished()?;
    print(&state);
    for memory in MEMORIES.read(&state.middleware)? {
        println!("remembered: {}", memory.text);
    }
    Ok(())
}

fn print(state: &MessagesState) {
    for message in state
        .messages
        .iter()
        .filter(|message| !message.text().is_empty())
    {
        println!("{}: {}", message.role(), message.text());
    }
}
