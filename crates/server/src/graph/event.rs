//! The events of a run as JSON.

use langgraph::graph::NodeName;
use langgraph::interrupt::Interrupt;
use langgraph::message::{Message, MessageChunk};
use serde_json::Value;

/// An event of a run, without the type of the state.
#[derive(Clone, Debug)]
pub(crate) struct RunEvent {
    /// The tasks around the graph of the event, outermost first: `node:task`. Empty for the root graph.
    pub(crate) namespace: Vec<String>,
    /// The id of its task; `None` for what concerns the whole graph.
    pub(crate) task: Option<String>,
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

    /// Removes the text of a node's error, which may hold a secret.
    pub(crate) fn hide_error(&mut self) {
        match self {
            Self::TaskFinished {
                error: Some(error), ..
            } => HIDDEN.clone_into(error),
            Self::Checkpoint(snapshot) => hide_errors(snapshot),
            _ => {}
        }
    }
}

/// What a client reads instead of the text of a node's error.
const HIDDEN: &str = "the node failed";

/// Removes the texts of errors from the tasks of a state, and from those of its subgraphs.
pub(super) fn hide_errors(state: &mut Value) {
    let tasks = state.get_mut("tasks").and_then(Value::as_array_mut);
    for task in tasks.into_iter().flatten() {
        if let Some(error) = task.get_mut("error").filter(|error| !error.is_null()) {
            *error = Value::from(HIDDEN);
        }
        if let Some(inner) = task.get_mut("state") {
            hide_errors(inner);
        }
    }
}
