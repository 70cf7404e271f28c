//! What an agent answered.

use langgraph::message::{Message, ToolCall, Usage};
use langgraph::state::HasMessages;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an agent answered in one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Answer {
    /// The answer.
    pub output: Value,
    /// The tools that it called, in order.
    pub tools: Vec<ToolCall>,
    /// The tokens, if they are known.
    pub usage: Usage,
    /// What it cost, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Answer {
    /// Creates an answer.
    pub fn new(output: impl Into<Value>) -> Self {
        Self {
            output: output.into(),
            ..Self::default()
        }
    }

    /// Returns the last text of a chat, and its tool calls.
    pub fn of_chat(chat: &impl HasMessages) -> Self {
        let messages = chat.messages();
        let last = messages.iter().rfind(|message| message.is_assistant());
        let text = last.map(|message| message.text().into_owned());
        let calls = messages.iter().flat_map(Message::tool_calls);
        Self {
            output: text.into(),
            tools: calls.cloned().collect(),
            ..Self::default()
        }
    }

    /// Sets the tool calls.
    #[must_use]
    pub fn tools(mut self, tools: Vec<ToolCall>) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the tokens.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets what the answer cost. Without it, the cost follows from the tokens and the
    /// [price](crate::eval::Evaluation::price) of the evaluation.
    #[must_use]
    pub fn cost(mut self, money: f64) -> Self {
        self.cost = Some(money);
        self
    }

    /// Returns the answer as text.
    pub fn text(&self) -> String {
        text(&self.output)
    }
}

pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
