//! ReAct in a loop: think, act, observe, and think again while there are new observations.
//! On a GLM model when `ZHIPU_API_KEY` is set and the feature `models` is on; offline otherwise.
//! Run it with `cargo run --example react_zhipu -- "What is 2 times the number of .toml files?"`.

use langgraph::prelude::*;
use langgraph_agent::{ModelNode, ReactState, WhatNext, act, observe, think, what_next};
use langgraph_examples::{model, show, tools};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args().nth(1);
    let question = question.unwrap_or_else(|| "What is 12 squared?".to_owned());
    let tools = tools::all();
    let chosen = model::named("bigmodel::glm-4.6", "ZHIPU_API_KEY")?;
    let model = ModelNode::new(chosen.model)
        .tools(&tools)
        .prompt("Think about what you need to know, and use the tools to find it out.");
    let agent = graph! {
        type State = ReactState;

        let think = think(model);
        let act = act(&tools);

        START => think => act => observe => match what_next {
            WhatNext::Think => think,
            WhatNext::Stop => END,
        };
    }
    .compile()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    let state = agent.invoke(ReactState::user(question)).await?;
    for step in state.messages.iter().skip(1).flat_map(show::steps) {
        println!("{step}");
    }
    println!(
        "{}",
        state.messages.last().map(Message::text).unwrap_or_default()
    );
    Ok(())
}
