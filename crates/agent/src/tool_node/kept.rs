//! Answers of tools that are given again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::digest::digest;
use langgraph::message::{Content, ToolCall};

/// The answers of some tools by name and arguments.
pub(crate) struct KeptCalls {
    tools: Vec<String>,
    ttl: Duration,
    answers: Mutex<HashMap<String, (Content, Instant)>>,
}

/// The number of answers at which old ones are dropped.
const SWEEP_AT: usize = 1024;

impl KeptCalls {
    pub(crate) fn new(tools: Vec<String>, ttl: Duration) -> Self {
        Self {
            tools,
            ttl,
            answers: Mutex::default(),
        }
    }

    pub(crate) fn tools(&self) -> &[String] {
        &self.tools
    }

    pub(crate) fn keeps(&self, call: &ToolCall) -> bool {
        self.tools.contains(&call.name)
    }

    pub(crate) fn get(&self, call: &ToolCall) -> Option<Content> {
        let answers = self.answers();
        let (content, since) = answers.get(&key(call))?;
        (since.elapsed() < self.ttl).then(|| content.clone())
    }

    /// Keeps an answer that does nothing but answer.
    pub(crate) fn put(&self, call: &ToolCall, content: Content) {
        let mut answers = self.answers();
        if answers.len() >= SWEEP_AT {
            answers.retain(|_, (_, since)| since.elapsed() < self.ttl);
        }
        answers.insert(key(call), (content, Instant::now()));
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<String, (Content, Instant)>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(call: &ToolCall) -> String {
    digest(&json!([call.name, call.arguments]))
}
