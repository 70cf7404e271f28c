//! Counting tokens before a call.

use langgraph::message::{ContentPart, Message};

use super::ChatRequest;

/// The number of tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenCount {
    /// The number.
    pub tokens: u64,
    /// True if it is an estimate, false if the model has counted.
    pub estimated: bool,
}

impl TokenCount {
    /// A number that the model has counted.
    pub fn exact(tokens: u64) -> Self {
        Self {
            tokens,
            estimated: false,
        }
    }

    /// Estimates the tokens of a request: a token for four ASCII characters or for one other
    /// character, four for each message, 1,000 for each image or file.
    pub fn estimate(request: &ChatRequest) -> Self {
        let messages: u64 = request.messages.iter().map(estimate_message).sum();
        let tools = request.tools.iter().map(|tool| {
            let schema = tool.parameters.to_string();
            estimate_text(&tool.name) + estimate_text(&tool.description) + estimate_text(&schema)
        });
        let format = request.response_format.as_ref();
        let format = format.map_or(0, |format| estimate_text(&format.schema.to_string()));
        Self {
            tokens: messages + tools.sum::<u64>() + format,
            estimated: true,
        }
    }
}

/// Estimates the tokens of a message.
pub(crate) fn estimate_message(message: &Message) -> u64 {
    let calls = message.tool_calls().iter();
    let calls = calls.map(|call| estimate_text(&call.name) + estimate_text(&call.arguments_text()));
    4 + content(message) + calls.sum::<u64>()
}

fn content(message: &Message) -> u64 {
    match message.parts() {
        [] => estimate_text(&message.text()),
        parts => parts.iter().map(part).sum(),
    }
}

fn part(part: &ContentPart) -> u64 {
    match part {
        ContentPart::Text { text, .. } => estimate_text(text),
        ContentPart::Reasoning { reasoning, .. } => estimate_text(reasoning),
        ContentPart::Other(block) => estimate_text(&block.to_string()),
        _ => 1000,
    }
}

fn estimate_text(text: &str) -> u64 {
    let (mut ascii, mut others) = (0_u64, 0_u64);
    for char in text.chars() {
        if char.is_ascii() {
            ascii += 1;
        } else {
            others += 1;
        }
    }
    ascii.div_ceil(4) + others
}
