//! A model that needs no key and no network: it multiplies the first two numbers of a question.
//! Put a model of `langgraph-genai`, or one of your own, in its place.

use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use serde_json::json;

/// Reads a question by rules.
pub struct Offline;

#[async_trait]
impl ChatModel for Offline {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        Ok(ChatResponse::new(answer(&request.messages)))
    }
}

fn answer(messages: &[Message]) -> Message {
    let Some(last) = messages.last() else {
        return Message::assistant("What is your question?");
    };
    let text = last.text();
    if last.is_tool() {
        return Message::assistant(format!("The answer is {text}."));
    }
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse::<i64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(a), Some(b)) => {
            let id = format!("call-{}", messages.len());
            let call = ToolCall::new(id, "multiply", json!({"a": a, "b": b}));
            Message::assistant_with_tool_calls("", [call])
        }
        _ => Message::assistant("Ask me to multiply two numbers."),
    }
}
