//! The smallest agent with a model: one node that calls it, and the reply. Only the request holds
//! the instructions, never the state.
//! Run it with `cargo run --example simple_agent -- 你好`.

use langgraph::prelude::*;
use langgraph_agent::{SimpleAgent, SimpleAgentState};
use langgraph_examples::model;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).unwrap_or_else(|| "你好".to_owned());
    let agent = SimpleAgent::new(model::choose()?.model).prompt("You are a friendly assistant.");
    let state = agent.run(SimpleAgentState::user(text)).await?;
    for message in &state.messages {
        println!("{}: {}", message.role(), message.text());
    }
    println!("next action: {:?}", state.next_action);
    Ok(())
}
