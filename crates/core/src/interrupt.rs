//! Interrupts and their answers.

use std::sync::Arc;

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
    /// The subgraph was changed from outside: the task runs again, even without answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

impl Interrupts {
    /// Returns true if the task, or a subgraph of it, waits for an answer.
    pub fn is_open(&self) -> bool {
        self.own.is_some() || !self.inner.is_empty()
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
