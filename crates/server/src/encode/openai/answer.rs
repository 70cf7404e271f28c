//! The answer of a run: the texts of its assistant messages, as they come.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::stream::{EndStatus, StreamEvent, StreamEventKind};
use crate::wire::chunk;
use crate::wire::sleep::{sleeps, sleeps_until};

/// Why there is no answer.
pub(crate) struct NoAnswer {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    pub(crate) code: &'static str,
}

/// The answer of a run so far.
pub(crate) struct Answer {
    pub(crate) text: String,
    /// How many messages the client has sent.
    sent: usize,
    /// The ids of the messages whose text is in the answer.
    messages: Vec<String>,
    values: Value,
    /// Why the run has paused.
    paused: Option<String>,
    error: Option<String>,
    input_tokens: u64,
    output_tokens: u64,
}

impl Answer {
    pub(crate) fn new(sent: usize) -> Self {
        Self {
            text: String::new(),
            sent,
            messages: Vec::new(),
            values: Value::Null,
            paused: None,
            error: None,
            input_tokens: 0,
            output_tokens: 0,
        }
    }

    /// Takes an event in. Returns the text that it adds.
    pub(crate) fn event(&mut self, event: &StreamEvent) -> Option<String> {
        match &event.kind {
            StreamEventKind::MessageChunk { id, chunk, .. } => {
                self.message(&chunk::to_wire(chunk, id))
            }
            StreamEventKind::Message { message, .. } => self.message(message),
            StreamEventKind::Values(values) => {
                self.values = values.clone();
                None
            }
            StreamEventKind::Interrupt { interrupt, .. } => {
                self.pause(&interrupt.value);
                None
            }
            StreamEventKind::Ended { status, error } => {
                if *status == EndStatus::Interrupted {
                    let paused = "has paused at a breakpoint, where this interface cannot go on";
                    self.paused.get_or_insert_with(|| paused.to_owned());
                }
                self.error = match status {
                    EndStatus::Completed | EndStatus::Interrupted => None,
                    EndStatus::Cancelled => Some("the run was cancelled".to_owned()),
                    EndStatus::Failed => Some(error.as_ref().map_or_else(
                        || "the run failed".to_owned(),
                        |error| error.message.clone(),
                    )),
                };
                self.rest()
            }
            _ => None,
        }
    }

    /// Notes why the run will pause: a question counts before a sleep.
    fn pause(&mut self, payload: &Value) {
        if let Some(until) = sleeps_until(payload) {
            let why = || format!("{}, but this interface cannot wait for it", sleeps(until));
            self.paused.get_or_insert_with(why);
        } else {
            let why = "asks a question, which this interface cannot answer";
            self.paused = Some(why.to_owned());
        }
    }

    fn message(&mut self, message: &Value) -> Option<String> {
        let usage = &message["usage_metadata"];
        self.input_tokens += usage["input_tokens"].as_u64().unwrap_or_default();
        self.output_tokens += usage["output_tokens"].as_u64().unwrap_or_default();
        match message["type"].as_str() {
            Some("AIMessageChunk" | "ai") => self.add(message),
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
        let is_new = !self.messages.contains(&id);
        let gap = if is_new && !self.text.is_empty() {
            "\n\n"
        } else {
            ""
        };
        if is_new {
            self.messages.push(id);
        }
        let added = format!("{gap}{text}");
        self.text.push_str(&added);
        Some(added)
    }

    /// Returns what the state has and no event brought: messages of subgraphs.
    fn rest(&mut self) -> Option<String> {
        let messages = self.values["messages"].as_array().cloned();
        let messages = messages.unwrap_or_default();
        let mut added = String::new();
        for message in messages.iter().skip(self.sent) {
            let id = message["id"].as_str().unwrap_or_default();
            if message["type"] == "ai" && !self.messages.iter().any(|known| known == id) {
                added.extend(self.add(message));
            }
        }
        (!added.is_empty()).then_some(added)
    }

    pub(crate) fn problem(&self) -> Option<NoAnswer> {
        if let Some(message) = &self.error {
            return Some(NoAnswer {
                status: StatusCode::INTERNAL_SERVER_ERROR,
                message: message.clone(),
                code: "run_failed",
            });
        }
        self.paused.as_ref().map(|why| NoAnswer {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            message: format!("the graph {why}: use a thread"),
            code: "interrupted",
        })
    }

    pub(crate) fn usage(&self) -> Value {
        json!({
            "prompt_tokens": self.input_tokens, "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
        })
    }
}
