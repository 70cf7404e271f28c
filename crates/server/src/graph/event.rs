//! The events of a run as JSON.

use langgraph::graph::NodeName;
use langgraph::message::{Message, MessageChunk};
use langgraph::node::Interrupt;
use serde_json::Value;

/// An event of a run, without the type of the state.
#[derive(Clone, Debug)]
pub(crate) struct RunEvent {
    /// The nodes around the graph of the event; empty for the root graph.
    pub(crate) namespace: Vec<NodeName>,
    pub(crate) step: usize,
    pub(crate) kind: RunEventKind,
}

/// What an event says. Messages in values are in LangChain's form.
#[derive(Clone, Debug)]
pub(crate) enum RunEventKind {
    Values(Value),
    Update {
        node: NodeName,
        update: Value,
        cached: bool,
    },
    Chunk {
        node: NodeName,
        chunk: MessageChunk,
    },
    Message {
        node: NodeName,
        message: Message,
    },
    Custom(Value),
    TaskStarted {
        node: NodeName,
        input: Value,
    },
    TaskFinished {
        node: NodeName,
        result: Value,
        error: Option<String>,
        interrupts: Vec<Interrupt>,
    },
    /// A checkpoint in the form of a thread's state.
    Checkpoint(Value),
    Interrupts(Vec<Interrupt>),
}

impl RunEventKind {
    /// Returns what may hold messages of a state.
    pub(crate) fn value_mut(&mut self) -> Option<&mut Value> {
        match self {
            Self::Values(value) | Self::Checkpoint(value) => Some(value),
            Self::Update { update, .. } => Some(update),
            Self::TaskStarted { input, .. } => Some(input),
            Self::TaskFinished { result, .. } => Some(result),
            _ => None,
        }
    }
}
