//! Interrupts and their answers.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use langgraph_topology::NodeName;

/// An interrupt that waits for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interrupt {
    /// Identifies this interrupt among all open ones; an answer may name it.
    pub id: String,
    /// The key of the interrupt in its node.
    pub key: String,
    /// The node that interrupted.
    pub node: NodeName,
    /// The path of nodes to its graph, outermost first; empty at the root.
    pub namespace: Vec<NodeName>,
    /// The payload: what the node asks.
    pub payload: Value,
}

impl Interrupt {
    /// Creates an interrupt from the question of a node.
    pub fn new(
        id: String,
        node: NodeName,
        namespace: Vec<NodeName>,
        question: OwnInterrupt,
    ) -> Self {
        Self {
            id,
            key: question.key,
            node,
            namespace,
            payload: question.payload,
        }
    }
}

impl Interrupt {
    /// Returns when the interrupt can be answered without a person: a time to look at it, not the time
    /// itself. Its payload says so with `expires_at`, in milliseconds since 1970, and either `default`, the
    /// answer that counts then, or `$wait`, as waits of `langgraph-wait` have it.
    pub fn due_at(&self) -> Option<SystemTime> {
        due_at(&self.payload)
    }

    /// Returns the earliest time at which one of them is due.
    pub fn first_due<'i>(interrupts: impl IntoIterator<Item = &'i Self>) -> Option<SystemTime> {
        interrupts.into_iter().filter_map(Self::due_at).min()
    }
}

fn due_at(payload: &Value) -> Option<SystemTime> {
    let has = |key| payload.get(key).is_some_and(|value| !value.is_null());
    let expires_at = payload.get("expires_at").and_then(Value::as_u64);
    match expires_at {
        Some(milliseconds) if has("default") || has("$wait") => {
            SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
        }
        // One that an earlier version stored: only its text says when.
        None if has("$wait") => Some(SystemTime::UNIX_EPOCH),
        _ => None,
    }
}

/// An interrupt as the task stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnInterrupt {
    /// The key of the interrupt in its node.
    pub key: String,
    /// The payload: what the node asks.
    pub payload: Value,
}

/// The interrupts of a task: its own, or those of a subgraph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interrupts {
    /// The task's own question.
    pub own: Option<OwnInterrupt>,
    /// The questions of a subgraph.
    pub inner: Vec<Interrupt>,
    /// The task runs again, even without answers: a subgraph was changed from outside, or a part of it has paused at a
    /// breakpoint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

impl Interrupts {
    /// Returns true if the task, or a subgraph of it, waits for an answer.
    pub fn is_open(&self) -> bool {
        self.own.is_some() || !self.inner.is_empty()
    }

    /// Returns the earliest time at which one of them is due.
    pub fn first_due(&self) -> Option<SystemTime> {
        let own = self.own.as_ref().and_then(|own| due_at(&own.payload));
        own.into_iter()
            .chain(Interrupt::first_due(&self.inner))
            .min()
    }

    /// Returns the interrupts as the caller sees them; `base` is the prefix of the superstep's
    /// interrupt ids.
    pub fn interrupts(
        self,
        base: &str,
        task: usize,
        node: &NodeName,
        namespace: &[NodeName],
    ) -> Vec<Interrupt> {
        let own = self.own.map(|question| {
            let id = format!("{base}:{task}:{}", question.key);
            Interrupt::new(id, Arc::clone(node), namespace.to_vec(), question)
        });
        own.into_iter().chain(self.inner).collect()
    }
}

/// An answer to a task's interrupt, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The key of the interrupt.
    pub key: String,
    /// The answer.
    pub value: Value,
}
