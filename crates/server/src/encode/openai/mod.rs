//! `OpenAI`'s chat completions: the text of the assistant's messages.

mod answer;

use std::time::UNIX_EPOCH;

use langgraph::environment;
use langgraph_http::Frame;
use serde_json::{Value, json};

use super::Encoder;
use crate::stream::StreamEvent;

pub(crate) use answer::Answer;

/// What all parts of one answer have in common.
#[derive(Clone, Debug)]
pub(crate) struct ResponseHead {
    id: String,
    created: u64,
    model: String,
}

impl ResponseHead {
    pub(crate) fn new(model: &str) -> Self {
        let now = environment::now().duration_since(UNIX_EPOCH);
        Self {
            id: format!("chatcmpl-{}", langgraph_core::new_id().simple()),
            created: now.map_or(0, |now| now.as_secs()),
            model: model.to_owned(),
        }
    }

    /// Returns the whole answer.
    pub(crate) fn completion(&self, answer: &Answer) -> Value {
        let message = json!({"role": "assistant", "content": answer.text, "refusal": null});
        json!({
            "id": self.id, "object": "chat.completion", "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0, "message": message, "finish_reason": "stop", "logprobs": null,
            }],
            "usage": answer.usage(),
        })
    }

    fn chunk(&self, choices: &Value) -> Value {
        json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "choices": choices,
        })
    }

    fn delta(&self, delta: &Value, finish: Option<&str>) -> Value {
        self.chunk(&json!([{
            "index": 0, "delta": delta, "finish_reason": finish, "logprobs": null,
        }]))
    }
}

/// Encodes the events of one run as chunks of a completion.
pub(crate) struct OpenAi {
    head: ResponseHead,
    answer: Answer,
    with_usage: bool,
    started: bool,
}

impl OpenAi {
    /// `sent` is the number of messages that the client has sent.
    pub(crate) fn new(head: ResponseHead, sent: usize, with_usage: bool) -> Self {
        Self {
            head,
            answer: Answer::new(sent),
            with_usage,
            started: false,
        }
    }

    /// Adds the chunks that end a stream.
    fn end(&self, out: &mut Vec<String>) {
        if let Some(problem) = self.answer.problem() {
            let error = json!({
                "message": problem.message, "type": "server_error", "param": null,
                "code": problem.code,
            });
            out.push(json!({"error": error}).to_string());
        } else {
            out.push(self.head.delta(&json!({}), Some("stop")).to_string());
            if self.with_usage {
                let mut last = self.head.chunk(&json!([]));
                last["usage"] = self.answer.usage();
                out.push(last.to_string());
            }
        }
        out.push("[DONE]".to_owned());
    }
}

impl Encoder for OpenAi {
    fn encode(&mut self, event: &StreamEvent) -> Vec<Frame> {
        let mut out = Vec::new();
        if !std::mem::replace(&mut self.started, true) {
            let first = json!({"role": "assistant", "content": ""});
            out.push(self.head.delta(&first, None).to_string());
        }
        if let Some(text) = self.answer.event(event) {
            let delta = json!({"content": text});
            out.push(self.head.delta(&delta, None).to_string());
        }
        if event.is_end() {
            self.end(&mut out);
        }
        out.into_iter().map(Frame::data_only).collect()
    }
}
