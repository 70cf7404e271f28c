//! An agent that answers the question on its command line with the help of tools.
//! It thinks (asks the model), acts (calls the tools), and thinks again until it can answer.
//! Run it with `cargo run -p langgraph-examples --example agent -- "What is 37 * 21?"`; `--graph` prints the graph.

use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_examples::{model, show, tools};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

const INSTRUCTIONS: &str = "Answer the user's question in one or two sentences. Use the tools for \
    arithmetic, for the time, and for anything about files; call several at once where you can.";

/// The conversation; updates of nodes are merged into it.
#[derive(State, Clone, Debug, Default)]
struct AgentState {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

/// Asks the model what to do next: call tools, or answer.
#[node]
async fn think(state: &AgentState, cx: &Context) -> Result<AgentStateUpdate, NodeError> {
    let request = ChatRequest::new(state.messages.clone())
        .system(INSTRUCTIONS)
        .tools(cx.resource::<Tools>()?.definitions());
    let response = cx.model()?.respond(request, cx).await?;
    Ok(AgentStateUpdate::default().messages(vec![response.message]))
}

enum Step {
    CallTools,
    Answer,
}

/// The next step, according to the model's last message.
fn next_step(state: &AgentState) -> Step {
    match state.messages.last() {
        Some(message) if !message.tool_calls().is_empty() => Step::CallTools,
        _ => Step::Answer,
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => show::failure(&*error),
    }
}

async fn run(arguments: Vec<String>) -> Result<(), Box<dyn Error>> {
    let agent = graph! {
        type State = AgentState;

        let think = think.retry(ModelError::retries(4));
        let act = ToolNode::new(tools::all());

        START => think => match next_step {
            Step::CallTools => act => think,
            Step::Answer => END,
        };
    }
    .compile()?;

    if show::graph(agent.topology()) {
        return Ok(());
    }
    let question = arguments.join(" ");
    if question.trim().is_empty() {
        return Err("what is the question? Say it after `--`, such as \"What is 37 * 21?\"".into());
    }

    let chosen = model::choose()?;
    println!("model: {}", chosen.name);
    let input = AgentStateUpdate::default().messages(vec![Message::user(question)]);
    let mut events = agent
        .run(input)
        .model(chosen.model)
        .resource(Arc::new(tools::all()))
        .limit(20)
        .stream(StreamMode::Updates);
    while let Some(event) = events.next().await {
        let event = event?;
        let messages = event.update().and_then(|update| update.messages.as_deref());
        for line in messages.unwrap_or_default().iter().flat_map(show::steps) {
            println!(
                "step {}, {}: {line}",
                event.step,
                event.node().unwrap_or_default()
            );
        }
    }
    let state = events.finish().await?.finished()?;
    println!();
    println!(
        "{}",
        state.messages.last().map(Message::text).unwrap_or_default()
    );
    Ok(())
}
