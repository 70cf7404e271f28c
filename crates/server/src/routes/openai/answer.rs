//! The answer of a run: the texts of its assistant messages, as they come.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::super::events::Told;

/// Why there is no answer.
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) message: String,
    pub(super) code: &'static str,
}

pub(super) struct Answer {
    pub(super) text: String,
    /// How many messages the client has sent.
    sent: usize,
    /// The messages whose text is in the answer.
    told: Vec<String>,
    values: Value,
    question: Option<Value>,
    error: Option<Value>,
    input_tokens: u64,
    output_tokens: u64,
}

impl Answer {
    pub(super) fn new(sent: usize) -> Self {
        Self {
            text: String::new(),
            sent,
            told: Vec::new(),
            values: Value::Null,
            question: None,
            error: None,
            input_tokens: 0,
            output_tokens: 0,
        }
    }

    /// Takes an event in. Returns the text that it adds.
    pub(super) fn event(&mut self, told: Told) -> Option<String> {
        match told.mode.as_str() {
            "messages" => {
                let message = &told.data[0];
                let usage = &message["usage_metadata"];
                self.input_tokens += usage["input_tokens"].as_u64().unwrap_or_default();
                self.output_tokens += usage["output_tokens"].as_u64().unwrap_or_default();
                match message["type"].as_str() {
                    Some("AIMessageChunk" | "ai") => self.add(message),
                    _ => None,
                }
            }
            "values" => {
                if let Some(open) = told.data["__interrupt__"].as_array() {
                    self.question = open.first().cloned();
                } else {
                    self.values = told.data;
                }
                None
            }
            "error" => {
                self.error = Some(told.data);
                None
            }
            _ => None,
        }
    }

    /// Adds the text of a message, with an empty line before a new one.
    fn add(&mut self, message: &Value) -> Option<String> {
        let text = match &message["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect(),
            _ => String::new(),
        };
        let id = message["id"].as_str().unwrap_or_default().to_owned();
        if text.is_empty() {
            return None;
        }
        let is_new = !self.told.contains(&id);
        let gap = if is_new && !self.text.is_empty() {
            "\n\n"
        } else {
            ""
        };
        if is_new {
            self.told.push(id);
        }
        let added = format!("{gap}{text}");
        self.text.push_str(&added);
        Some(added)
    }

    /// Returns what the state has and no event told: messages of graphs inside.
    pub(super) fn end(&mut self) -> Option<String> {
        let messages = self.values["messages"].as_array().cloned();
        let messages = messages.unwrap_or_default();
        let mut added = String::new();
        for message in messages.iter().skip(self.sent) {
            let id = message["id"].as_str().unwrap_or_default();
            if message["type"] == "ai" && !self.told.iter().any(|told| told == id) {
                added.extend(self.add(message));
            }
        }
        (!added.is_empty()).then_some(added)
    }

    pub(super) fn problem(&self) -> Option<Problem> {
        if let Some(error) = &self.error {
            let message = error["message"].as_str().unwrap_or("the run failed");
            return Some(Problem {
                status: StatusCode::INTERNAL_SERVER_ERROR,
                message: message.to_owned(),
                code: "run_failed",
            });
        }
        self.question.as_ref().map(|_| Problem {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            message: "the graph asks a question, which this interface cannot answer: use a thread"
                .to_owned(),
            code: "interrupted",
        })
    }

    pub(super) fn usage(&self) -> Value {
        json!({
            "prompt_tokens": self.input_tokens, "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
        })
    }
}
