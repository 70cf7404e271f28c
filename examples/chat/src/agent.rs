//! The agent of the service.

use std::error::Error;
use std::sync::Arc;

use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{HumanInTheLoop, MessagesState, react_agent};
use langgraph_sqlite::SqliteSaver;

use crate::model::Offline;

pub(crate) type Chat = MessagesState;

/// Deletes a file. (Not really.)
#[tool]
async fn delete_file(path: String) -> String {
    format!("{path} is gone")
}

/// An agent that asks before it deletes, with its threads in `saver`.
pub(crate) fn graph(saver: SqliteSaver) -> Result<CompiledStateGraph<Chat>, Box<dyn Error>> {
    // Any other `ChatModel` takes its place: `GenaiModel` of `langgraph-genai`, for one.
    let agent = react_agent(Offline, (delete_file,)).with(HumanInTheLoop::new("delete_file"));
    Ok(agent.compile()?.checkpointer(Arc::new(saver)))
}
