//! A state with a list that several nodes may extend, and a number that one may set.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::node::{IntoOutput, Output};
use langgraph::prelude::*;
use langgraph::state::{Field, FieldSet, ReducerError};
use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    pub(crate) n: i64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LogUpdate {
    pub(crate) lines: Option<Vec<String>>,
    pub(crate) n: Option<i64>,
}

const FIELDS: &[Field] = &[Field::plain("lines").reduced(), Field::plain("n")];

impl From<Log> for LogUpdate {
    fn from(log: Log) -> Self {
        Self {
            lines: Some(log.lines),
            n: Some(log.n),
        }
    }
}

impl State for Log {
    type Update = LogUpdate;

    fn fields(&self) -> &[Field] {
        FIELDS
    }

    fn written(&self, update: &LogUpdate) -> FieldSet {
        let mut fields = FieldSet::new();
        if update.lines.is_some() {
            fields.insert(0);
        }
        if update.n.is_some() {
            fields.insert(1);
        }
        fields
    }

    fn try_merge(&mut self, update: LogUpdate) -> Result<(), ReducerError> {
        self.lines.extend(update.lines.into_iter().flatten());
        self.n = update.n.unwrap_or(self.n);
        Ok(())
    }

    fn overwrite(&mut self, update: LogUpdate) {
        self.lines = update.lines.unwrap_or_default();
        self.n = update.n.unwrap_or(self.n);
    }

    fn discard(&self, update: &mut LogUpdate, fields: &FieldSet) {
        if fields.contains(0) {
            update.lines = None;
        }
        if fields.contains(1) {
            update.n = None;
        }
    }

    fn reset(&mut self, fields: &FieldSet) {
        if fields.contains(0) {
            self.lines.clear();
        }
        if fields.contains(1) {
            self.n = 0;
        }
    }
}

impl IntoOutput<Log> for LogUpdate {
    fn into_output(self) -> Result<Output<Log>, NodeError> {
        Ok(Output::update(self))
    }
}

pub(crate) fn line(text: impl Into<String>) -> LogUpdate {
    LogUpdate {
        lines: Some(vec![text.into()]),
        n: None,
    }
}

/// What happened, in order; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<String>>>);

impl Recorder {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl std::io::Write for Recorder {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.note(String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[derive(Debug, PartialEq)]
pub(crate) struct Boom(pub(crate) &'static str);

impl std::fmt::Display for Boom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Boom {}

/// A graph of one node.
pub(crate) fn single<K>(node: impl langgraph::graph::IntoNode<Log, K>) -> StateGraph<Log> {
    let mut graph = StateGraph::new();
    graph.add_node("node", node).add_sequence(&["node"]);
    graph
}
