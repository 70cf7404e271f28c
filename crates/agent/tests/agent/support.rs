//! What several agents here need.

use langgraph::message::{Role, ToolCall};
use langgraph::prelude::*;
use langgraph_agent::{FnTool, Turn};
use serde_json::{Value, json};

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

pub(crate) fn clock() -> FnTool {
    FnTool::new("get_current_time", "The current time.", || async {
        "2024-01-01 12:00:00"
    })
}

pub(crate) fn shown(messages: &[Message]) -> Vec<(Role, String)> {
    messages
        .iter()
        .map(|message| (message.role(), message.text().into_owned()))
        .collect()
}

pub(crate) fn asks_the_time(id: &str) -> Turn {
    Turn::tool_calls([call(id, "get_current_time", json!({}))])
}
