//! An agent that streams its answers and survives what happens to real providers: limits, errors,
//! streams that break. It asks the model that the environment names (see `from_env`), once per
//! question. Run it with a model, as in
//! `OPENAI_BASE_URL=http://127.0.0.1:8000/v1 cargo run -p langgraph-genai --example resilient -- "one" "two"`.

use std::error::Error;
use std::time::Duration;

use langgraph::prelude::*;
use langgraph::stream::StreamOptions;
use langgraph_agent::{FnTool, MessagesStateUpdate, ModelError, ModelRetry, react_agent};
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(run(std::env::args().skip(1)))
}

async fn run(questions: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let model = langgraph_genai::from_env()?.ok_or("no model: set OPENAI_BASE_URL")?;
    let clock = FnTool::new("get_current_time", "The current time.", || async {
        "2024-01-01 12:00:00"
    });
    let retries = ModelError::retries(5).initial_interval(Duration::from_millis(300));
    let agent = react_agent(model, (clock,))
        .prompt("You have a clock.")
        .with(ModelRetry::policy(retries))
        .compile()?;
    for question in questions {
        let mut events = agent
            .run(MessagesStateUpdate::user(&question))
            .limit(20)
            .stream(StreamOptions::new(StreamMode::Messages));
        let mut pieces = 0;
        while let Some(event) = events.next().await {
            if matches!(event?.kind, EventKind::MessageChunk { .. }) {
                pieces += 1;
            }
        }
        let state = events.finish().await?.finished()?;
        langgraph_agent::check_answered(&state.messages)?;
        let tools = state.messages.iter().filter(|message| message.is_tool());
        let tools = tools.count();
        let reply = state.messages.last().map(Message::text).unwrap_or_default();
        println!("{question} -> {pieces} pieces, {tools} tool calls: {reply}");
    }
    Ok(())
}
