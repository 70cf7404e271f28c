//! The events of runs, as they are stored and streamed.

use langgraph::message::MessageChunk;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Spent;
use crate::wire::approval::payload_out;
use crate::wire::time::now_ms;

/// An event of a run. It is stored as it is; an [`Encoder`](crate::encode::Encoder) makes frames
/// of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StreamEvent {
    /// Its number in the run, from 0. It has none before it is published.
    #[serde(skip)]
    pub(crate) number: i64,
    /// When it was made, in milliseconds.
    #[serde(skip)]
    pub(crate) made: i64,
    /// The tasks around its graph, outermost first: `node:task`. Empty for the root graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) namespace: Vec<String>,
    #[serde(default)]
    pub(crate) step: usize,
    pub(crate) kind: StreamEventKind,
    /// The frame of version 1 that an earlier version of this program has stored.
    #[serde(skip)]
    pub(crate) recorded: Option<Box<RecordedFrame>>,
}

/// A frame of version 1 of the streaming protocol, as it was stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedFrame {
    /// The stream mode that shows it; `None`: it is in every stream.
    pub(crate) mode: Option<String>,
    /// Its name. The last event of a run has none: it is in no stream.
    pub(crate) name: Option<String>,
    pub(crate) data: Value,
}

/// What an event says. States and whole messages are in LangChain's form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StreamEventKind {
    /// An attempt to carry out the run has begun.
    Started {
        run_id: String,
        attempt: i64,
    },
    Values(Value),
    Update {
        node: String,
        update: Value,
        #[serde(default)]
        cached: bool,
    },
    MessageChunk {
        /// The id of the message, also if the model gives it none.
        id: String,
        chunk: MessageChunk,
        metadata: Value,
    },
    Message {
        message: Value,
        metadata: Value,
    },
    Custom(Value),
    TaskStarted {
        id: String,
        node: String,
        input: Value,
        /// That of the run.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        metadata: Value,
    },
    TaskFinished {
        id: Option<String>,
        node: String,
        result: Value,
        error: Option<String>,
        interrupts: Vec<OpenInterrupt>,
        /// What the models that it has called have used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<Spent>,
    },
    /// A checkpoint in the form of a thread's state.
    Checkpoint(Value),
    Interrupt {
        interrupt: OpenInterrupt,
        /// The values of the root graph, if a mode of the run shows them.
        values: Option<Value>,
    },
    /// The run has paused at a breakpoint.
    Breakpoint,
    /// The last event of a run.
    Ended {
        status: EndStatus,
        error: Option<RunError>,
    },
    /// A recorded frame that only version 1 of the protocol has.
    Recorded,
}

/// An interrupt that waits for its answer, as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenInterrupt {
    pub(crate) id: String,
    pub(crate) value: Value,
    /// The JSON schema of the answer, if the payload brings it along.
    #[serde(default)]
    pub(crate) response_schema: Value,
}

impl OpenInterrupt {
    pub(crate) fn new(interrupt: &langgraph::interrupt::Interrupt) -> Self {
        Self {
            id: interrupt.id.clone(),
            value: payload_out(&interrupt.payload),
            response_schema: interrupt.payload["response_schema"].clone(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({"value": self.value, "id": self.id, "response_schema": self.response_schema})
    }
}

/// How a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndStatus {
    Completed,
    /// The thread waits: for answers, or at a breakpoint.
    Interrupted,
    Cancelled,
    Failed,
}

/// The error of a run, as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunError {
    pub(crate) error: String,
    pub(crate) message: String,
}

impl RunError {
    pub(crate) fn new(error: impl Into<String>, message: impl Into<String>) -> Self {
        let (error, message) = (error.into(), message.into());
        Self { error, message }
    }

    /// The error of a run that the server could not carry out. The log of the program says why.
    pub(crate) fn internal() -> Self {
        Self::new(
            "InternalServerError",
            "the server could not carry out the run",
        )
    }

    pub(crate) fn json(&self) -> Value {
        json!({"error": self.error, "message": self.message})
    }
}

impl StreamEvent {
    pub(crate) fn new(kind: StreamEventKind) -> Self {
        Self {
            number: 0,
            made: now_ms(),
            namespace: Vec::new(),
            step: 0,
            kind,
            recorded: None,
        }
    }

    /// Sets the graph and the superstep of the event.
    pub(crate) fn at(mut self, namespace: Vec<String>, step: usize) -> Self {
        (self.namespace, self.step) = (namespace, step);
        self
    }

    pub(crate) fn ended(status: EndStatus, error: Option<RunError>) -> Self {
        Self::new(StreamEventKind::Ended { status, error })
    }

    pub(crate) fn is_end(&self) -> bool {
        self.end_status().is_some()
    }

    /// Returns how the run has ended, if it is the last event of it.
    pub(crate) fn end_status(&self) -> Option<EndStatus> {
        match self.kind {
            StreamEventKind::Ended { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Returns about how much memory the event takes.
    pub(crate) fn size(&self) -> usize {
        const FIXED: usize = 256;
        let kind = match &self.kind {
            StreamEventKind::Values(value)
            | StreamEventKind::Custom(value)
            | StreamEventKind::Checkpoint(value) => size_of_value(value),
            StreamEventKind::Update { update, .. } => size_of_value(update),
            StreamEventKind::MessageChunk {
                chunk, metadata, ..
            } => chunk.text.len() + chunk.reasoning.len() + size_of_value(metadata),
            StreamEventKind::Message { message, metadata } => {
                size_of_value(message) + size_of_value(metadata)
            }
            StreamEventKind::TaskStarted {
                input, metadata, ..
            } => size_of_value(input) + size_of_value(metadata),
            StreamEventKind::TaskFinished { result, .. } => size_of_value(result),
            StreamEventKind::Interrupt { interrupt, values } => {
                size_of_value(&interrupt.value) + values.as_ref().map_or(0, size_of_value)
            }
            StreamEventKind::Started { .. }
            | StreamEventKind::Breakpoint
            | StreamEventKind::Ended { .. }
            | StreamEventKind::Recorded => 0,
        };
        let recorded = self.recorded.as_ref();
        FIXED + kind + recorded.map_or(0, |frame| size_of_value(&frame.data))
    }
}

fn size_of_value(value: &Value) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of_value).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| NODE + name.len() + size_of_value(value))
            .sum(),
        _ => 0,
    }
}
