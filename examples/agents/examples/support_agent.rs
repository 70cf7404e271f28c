//! A support agent that hides personal data, remembers its users, and asks a person before it pays.
//! Run it with `cargo run --example support_agent -- approve`.

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::CompiledStateGraph;
use langgraph::message::ToolCall;
use langgraph::node::Context;
use langgraph_agent::{
    ApprovalRequest, FnTool, HumanInTheLoop, MessagesState, MessagesStateUpdate, ToolDecision,
    Turn, react_agent,
};
use langgraph_examples::{script, show};
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

const COMPLAINT: &str = "The cup of order 7 is broken.";

/// A script in the place of a model.
fn turns(question: &str) -> Vec<Turn> {
    if !question.contains(COMPLAINT) {
        return vec![Turn::text("Good morning! Is the new cup whole?")];
    }
    let refund = ToolCall::new("r1", "refund", json!({"order": 7}));
    vec![
        Turn::tool_calls([refund]),
        Turn::text("Order 7 is settled. We write to the address that we have."),
    ]
}

/// A script in the place of the model that extracts memories.
fn extracted(chat: &str) -> Vec<Turn> {
    let memories = if chat.contains(COMPLAINT) {
        json!(["Got a broken cup with order 7."])
    } else {
        json!([])
    };
    vec![Turn::text(
        json!({"memories": memories, "forget": []}).to_string(),
    )]
}

pub(crate) fn agent() -> Result<CompiledStateGraph<MessagesState>, Box<dyn std::error::Error>> {
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
    Ok(react_agent(script::model(turns)?, (refund,))
        .name("support_agent")
        .with((
            pii,
            LongTermMemory::new(per_user).extract(script::model(extracted)?),
            HumanInTheLoop::new("refund"),
        ))
        .compile()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = agent()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    let agent = agent
        .checkpointer(Arc::new(MemorySaver::new()))
        .store(Arc::new(MemoryStore::new()));
    let decision = match std::env::args().nth(1).as_deref() {
        None | Some("approve") => ToolDecision::Approve,
        Some(reason) => ToolDecision::reject(reason),
    };
    let complaint =
        format!("{COMPLAINT} My card is 4111 1111 1111 1111, write to ada@example.org.");
    let thread = agent.thread("monday");
    let run = thread.run(MessagesStateUpdate::user(complaint));
    let mut outcome = run.metadata("user", "ada").await?;
    let mut printed = show::messages(outcome.state(), 0);
    while let Some(request) = outcome.interrupts().first().and_then(ApprovalRequest::of) {
        let arguments = request.call.arguments_text();
        println!("for approval: {} {arguments}", request.call.name);
        outcome = thread
            .resume(&*request.call.id, decision.clone())
            .metadata("user", "ada")
            .await?;
        printed = show::messages(outcome.state(), printed);
    }
    outcome.finished()?;

    // Another thread of the same user.
    let run = agent
        .thread("tuesday")
        .run(MessagesStateUpdate::user("Hello, it is about the cup."));
    let state = run.metadata("user", "ada").await?.finished()?;
    show::messages(&state, 0);
    for memory in MEMORIES.read(&state.middleware)? {
        println!("remembered: {}", memory.text);
    }
    Ok(())
}
