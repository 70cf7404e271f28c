//! A supervisor hands two tasks to two agents, which work side by side, and puts their results together.
//! Run it with `cargo run --example supervisor`.

use langgraph::message::ToolCall;
use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
use langgraph_examples::{offline_model::OfflineModel, show, tools};
use langgraph_patterns::Supervisor;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The agents read questions by rules; any model takes their place.
    let sums = react_agent(OfflineModel, (tools::calculate,)).compile()?;
    let files = react_agent(OfflineModel, (tools::find_files,)).compile()?;
    let hand_off = |id: &str, to: &str, task: &str| {
        ToolCall::new(id, format!("hand_off_to_{to}"), json!({"task": task}))
    };
    let model = ScriptedModel::new([
        Turn::tool_calls([
            hand_off("c1", "sums", "What is 37 * 21?"),
            hand_off(
                "c2",
                "files",
                "How many .toml files are in the folder examples?",
            ),
        ]),
        Turn::text("Both are done."),
    ]);
    let team = Supervisor::new(model)
        .agent("sums", "works out sums", sums)
        .agent("files", "looks for files", files)
        .compile()?;
    if show::graph(team.topology()) {
        return Ok(());
    }
    let question =
        MessagesStateUpdate::user("What is 37 * 21, and how many .toml files are there?");
    let state = team.invoke(question).await?;
    for step in state.messages.iter().skip(1).flat_map(show::steps) {
        println!("{step}");
    }
    Ok(())
}
