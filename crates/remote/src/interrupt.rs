//! The interrupts of an agent, as its requester gets them.

use langgraph::interrupt::Interrupt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ConversationId;

/// An interrupt that an agent waits at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenInterrupt {
    /// Identifies the interrupt; an answer names it.
    pub id: String,
    /// The key of the interrupt in its node.
    pub key: String,
    /// What the agent asks.
    #[serde(default)]
    pub payload: Value,
    /// Why the agent has refused the answer that it got, if it asks again for that reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl OpenInterrupt {
    /// Creates an interrupt.
    pub fn new(id: impl Into<String>, key: impl Into<String>, payload: Value) -> Self {
        Self {
            id: id.into(),
            key: key.into(),
            payload,
            refused: None,
        }
    }
}

impl From<&Interrupt> for OpenInterrupt {
    fn from(interrupt: &Interrupt) -> Self {
        Self::new(&interrupt.id, &interrupt.key, interrupt.payload.clone())
    }
}

/// Where an agent waits, and for what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RemotePause {
    /// The conversation in which the answers are expected.
    pub conversation: Option<ConversationId>,
    /// The open interrupts.
    pub interrupts: Vec<OpenInterrupt>,
}

impl RemotePause {
    /// Returns the id of the first interrupt whose answer was refused, and why.
    pub(crate) fn refused(&self) -> Option<(&str, &str)> {
        let mut open = self.interrupts.iter();
        open.find_map(|one| Some((one.id.as_str(), one.refused.as_deref()?)))
    }
}
