//! Questions that a node asks, and their answers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::codec::FormatError;
use langgraph_topology::NodeName;

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interrupt {
    /// Names this question among all that wait; an answer may be given by it.
    pub id: String,
    /// The key under which the node asked.
    pub key: String,
    /// The node that asked.
    pub node: NodeName,
    /// The nodes around the graph that asked, outermost first; empty at the root.
    pub namespace: Vec<NodeName>,
    /// What was asked.
    pub payload: Value,
}

impl Interrupt {
    pub(crate) fn new(
        id: String,
        node: NodeName,
        namespace: Vec<NodeName>,
        question: Question,
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

/// A question as the task left it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) key: String,
    pub(crate) payload: Value,
}

/// Everything a task waits for: its own question, or those of a graph inside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Questions {
    pub(crate) own: Option<Question>,
    pub(crate) inner: Vec<Interrupt>,
    /// The graph inside was changed from outside: the task runs again, whether there are answers
    /// or not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) again: bool,
}

impl Questions {
    /// The questions as the caller sees them; `base` begins the ids of the superstep's questions.
    pub(crate) fn interrupts(
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

/// An answer to a question of a task, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The key of the question.
    pub key: String,
    /// The answer.
    pub value: Value,
}

/// The task ends here until its question is answered.
///
/// Pass it on with `?`; an error type of your own takes it with `#[from]`. The runtime recognises
/// the pause by the open question, not by this value, so wrapping it is harmless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Interrupted {
    key: String,
    text: String,
    refused: bool,
}

impl Interrupted {
    pub(crate) fn waiting(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            text: format!("waiting for the answer to `{key}`"),
            refused: false,
        }
    }

    pub(crate) fn bad_answer(key: &str, why: &str) -> Self {
        Self {
            key: key.to_owned(),
            text: format!("the answer to `{key}` {why}"),
            refused: true,
        }
    }

    pub(crate) fn bad_question(key: &str, error: &FormatError) -> Self {
        Self {
            key: key.to_owned(),
            text: format!("the question `{key}` cannot be written as JSON: {error}"),
            refused: false,
        }
    }

    /// The key of the question.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// True when there is an answer, and it will not do; the question waits for another.
    pub fn is_refused(&self) -> bool {
        self.refused
    }
}
