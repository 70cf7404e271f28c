//! ReAct as a straight line: think, act, observe, each once.
//! Thinking plans tool calls, acting runs them, observing turns their results into an answer.
//! Run it with `cargo run --example react_linear -- "What is 12 squared?"`.

use langgraph::prelude::*;
use langgraph_examples::reader::{CALCULATE, PlannedCall, ToolResult, answer, plan};
use langgraph_examples::tools;

#[derive(State, Clone, Debug, Default)]
struct React {
    question: String,
    calls: Vec<PlannedCall>,
    #[reducer(append)]
    results: Vec<ToolResult>,
    answer: String,
}

/// Decides which tools to call.
#[node]
async fn think(state: &React) -> ReactUpdate {
    let plan = plan(&state.question, &[CALCULATE]);
    ReactUpdate::default()
        .calls(plan.calls)
        .answer(plan.reply.unwrap_or_default())
}

/// Calls them.
#[node]
async fn act(state: &React) -> ReactUpdate {
    ReactUpdate::default().results(state.calls.iter().map(tools::run).collect())
}

/// Says what came out.
#[node]
async fn observe(state: &React) -> ReactUpdate {
    if state.results.is_empty() {
        // There was nothing to call; the reply stands.
        return ReactUpdate::default();
    }
    ReactUpdate::default().answer(answer(&state.question, &state.results))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "What is 12 squared?".to_owned());
    let agent = graph! {
        type State = React;
        START => think => act => observe => END;
    }
    .compile()?;
    let state = agent
        .invoke(ReactUpdate::default().question(question))
        .await?;
    for call in &state.calls {
        println!("called {} with {}", call.tool, call.arguments);
    }
    println!("{}", state.answer);
    Ok(())
}
