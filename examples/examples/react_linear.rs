//! ReAct as a straight line: think, act, observe, each once.
//! Thinking calls the model, acting runs the tools, observing adds their answers to the chat.
//! Run it with `cargo run --example react_linear -- "What is 12 squared?"`.

use langgraph::prelude::*;
use langgraph_agent::{ModelNode, ReactState, act, observe, think};
use langgraph_examples::{model, show, tools};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "What is 12 squared?".to_owned());
    let tools = tools::all();
    let model = ModelNode::new(model::choose()?.model).tools(&tools);
    let agent = graph! {
        type State = ReactState;

        let think = think(model);
        let act = act(&tools);

        START => think => act => observe => END;
    }
    .compile()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    let state = agent.invoke(ReactState::user(question)).await?;
    for step in state.messages.iter().skip(1).flat_map(show::steps) {
        println!("{step}");
    }
    Ok(())
}
