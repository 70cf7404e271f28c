//! A deep agent that writes a file and hands work to another, whose tool asks. It stays as it is, as the other graphs.

use langgraph::message::{Message, ToolCall};
use langgraph::prelude::*;
use langgraph_agent::MessagesState;
use langgraph_agent::prelude::*;
use langgraph_deep::deep_agent;
use serde_json::json;

use crate::{Fallible, Program};

/// Asks a person for a name.
#[tool]
async fn ask(topic: String, cx: &ToolContext<'_>) -> Result<String, ToolError> {
    let program = cx.resource_arc::<Program>().map_err(ToolError::fatal)?;
    let name: String = cx.interrupt("who", &json!({"question": "who knows?", "topic": topic}))?;
    Ok(format!("{name} knows, says {}", program.name()))
}

/// A model whose answer depends on how many turns there were.
struct Model(fn(usize, &[Message]) -> Message);

#[async_trait]
impl ChatModel for Model {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let turns = request.messages.iter().filter(|one| one.is_assistant());
        let turn = turns.count();
        Ok(ChatResponse::new((self.0)(turn, &request.messages)))
    }
}

fn call(id: &str, tool: &str, arguments: serde_json::Value) -> Message {
    Message::assistant_with_tool_calls("", vec![ToolCall::new(id, tool, arguments)])
}

fn last(messages: &[Message]) -> String {
    let last = messages.last().map(|last| last.text().into_owned());
    last.unwrap_or_default()
}

fn outer(turn: usize, messages: &[Message]) -> Message {
    match turn {
        0 => call(
            "c1",
            "write_file",
            json!({"path": "/plan.md", "content": "ask first"}),
        ),
        1 => call(
            "c2",
            "task",
            json!({"agent": "inner", "description": "ask about moss"}),
        ),
        _ => Message::assistant(format!("at last: {}", last(messages))),
    }
}

fn inner(turn: usize, messages: &[Message]) -> Message {
    match turn {
        0 => call("c3", "ask", json!({"topic": "moss"})),
        _ => Message::assistant(format!("heard: {}", last(messages))),
    }
}

pub(crate) fn agent() -> Fallible<CompiledStateGraph<MessagesState>> {
    let inner = deep_agent(Model(inner)).tools((ask,));
    let outer = deep_agent(Model(outer)).subagent("inner", "asks people", inner);
    Ok(outer.compile()?)
}
