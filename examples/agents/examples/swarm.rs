//! Two agents hand a user over to each other: who has the conversation keeps it in the next turn.
//! Run it with `cargo run --example swarm`.

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{Message, ToolCall};
use langgraph_agent::{ScriptedModel, Turn};
use langgraph_examples::show;
use langgraph_patterns::{Swarm, SwarmStateUpdate};
use serde_json::json;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let over = |to: &str| ToolCall::new("c1", format!("hand_over_to_{to}"), json!({}));
    let sales = ScriptedModel::new([
        Turn::text("A teapot is 40 euros."),
        Turn::tool_calls([over("support")]),
    ]);
    let support = ScriptedModel::new(["Which part is broken?", "A new lid is on its way."]);
    let swarm = Swarm::new()
        .agent("sales", "sells teapots", sales, ())
        .agent("support", "repairs teapots", support, ())
        .compile()?
        .checkpointer(Arc::new(MemorySaver::new()));
    if show::graph(swarm.topology()) {
        return Ok(());
    }

    let thread = swarm.thread("customer");
    for said in ["What is a teapot?", "Mine is broken.", "The lid."] {
        let state = thread.run(SwarmStateUpdate::user(said)).await?.finished()?;
        let reply = state.messages.last().map(Message::text).unwrap_or_default();
        let active = if state.active.is_empty() {
            "sales"
        } else {
            &state.active
        };
        println!("user: {said}\n{active}: {reply}");
    }
    Ok(())
}
