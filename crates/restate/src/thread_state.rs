//! How a thread stands.

use langgraph::interrupt::Interrupt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::RestateError;

/// How a thread stands: what calls of it return, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreadState {
    /// The state.
    pub values: Value,
    /// The questions that wait for answers, and the waits for times and events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<Interrupt>,
    /// The nodes that run when the thread goes on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

impl ThreadState {
    /// Returns true if nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.interrupts.is_empty() && self.next.is_empty()
    }

    /// Reads the state as a type, which may have fewer fields.
    ///
    /// # Errors
    ///
    /// [`RestateError::Json`] if it does not fit.
    pub fn values<T: DeserializeOwned>(&self) -> Result<T, RestateError> {
        T::deserialize(&self.values).map_err(RestateError::json("the state of a thread"))
    }
}
