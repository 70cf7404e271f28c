//! The ready-made agent with tools: it calls its model until the model requests no more tools.
//! A question that needs the clock takes four messages and two requests.
//! Run it with `cargo run --example tool_agent -- 现在几点了？`.

use langgraph::prelude::*;
use langgraph_agent::{ToolAgent, ToolAgentState};
use langgraph_examples::{model, show, tools};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "现在几点了？".to_owned());
    let agent = ToolAgent::new(model::choose()?.model, tools::all())
        .prompt("Use the tools where they help.")
        .max_iterations(5);
    let state = agent.run(ToolAgentState::user(text)).await?;
    for message in &state.messages {
        match message.text() {
            text if message.tool_calls().is_empty() => println!("{}: {text}", message.role()),
            _ => println!("{}: {}", message.role(), show::steps(message).join(", ")),
        }
    }
    println!(
        "{} messages, {} iterations",
        state.messages.len(),
        state.iterations
    );
    Ok(())
}
