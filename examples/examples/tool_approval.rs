//! A person decides what an agent may do: each call of a dangerous tool waits for approval. The
//! harmless call runs at once; nothing runs twice, and the model gets every decision.
//! Run it with `cargo run --example tool_approval -- approve "edit draft.txt" reject`.

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    ApprovalRequest, HumanInTheLoop, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn,
    react_agent,
};
use langgraph_examples::show;
use serde_json::json;
use std::sync::Arc;

/// Deletes a file. (Not really.)
#[tool]
async fn delete_file(path: String) -> String {
    format!("{path} is gone")
}

/// Lists the files of the folder.
#[tool]
async fn list_files() -> &'static str {
    "notes.txt, thesis.txt, draft.txt"
}

/// The decision for a word of the command line.
fn decision(word: &str) -> ToolDecision {
    match word.split_once(' ') {
        Some(("edit", path)) => ToolDecision::edit([("path", path)]),
        Some(("answer", text)) => ToolDecision::answer(text),
        _ if word == "approve" => ToolDecision::Approve,
        _ => ToolDecision::reject("The user wants to keep this file."),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let delete = |id: &str, path: &str| ToolCall::new(id, "delete_file", json!({"path": path}));
    let model = ScriptedModel::new([
        Turn::tool_calls([
            ToolCall::new("list", "list_files", json!({})),
            delete("1", "notes.txt"),
            delete("2", "thesis.txt"),
            delete("3", "draft.txt"),
        ]),
        Turn::text("I have cleaned up as far as I was allowed to."),
    ]);
    let agent = react_agent(model, (delete_file, list_files))
        .with(HumanInTheLoop::new("delete_file"))
        .compile()?
        .checkpointer(Arc::new(MemorySaver::new()));
    if show::graph(agent.topology()) {
        return Ok(());
    }

    let order = MessagesStateUpdate::default().messages(vec![Message::user("Clean up!")]);
    let mut outcome = agent.run(order).thread("t").await?;
    while let Some(question) = outcome.interrupts().first() {
        if let Some(request) = ApprovalRequest::of(question) {
            println!("{} {}", request.description, request.call.arguments_text());
        }
        let word = words.next().unwrap_or_else(|| "reject".to_owned());
        println!("> {word}");
        let id = question.id.clone();
        outcome = agent.thread("t").resume(id, decision(&word)).await?;
    }
    for message in &outcome.state().messages[2..] {
        for line in show::steps(message) {
            println!("{line}");
        }
    }
    println!("{}", outcome.state().messages[6].text());
    Ok(())
}
