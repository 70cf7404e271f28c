//! An agent that asks before it searches the disk.

use std::error::Error;
use std::sync::Arc;

use langgraph_agent::{ChatModel, HumanInTheLoop, MessagesState, ReactAgent};
use langgraph_examples::tools;
use langgraph_server::ServedGraph;

pub(crate) fn graph(model: Arc<dyn ChatModel>) -> Result<ServedGraph, Box<dyn Error>> {
    let agent = ReactAgent::<MessagesState>::new(model, tools::all())
        .name("careful")
        .prompt("Answer the question. Use the tools for arithmetic, the time, and files.")
        .with(HumanInTheLoop::new("find_files"))
        .compile()?;
    Ok(super::messages::chat(agent).into())
}
