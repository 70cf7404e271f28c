//! What expansions call.

pub use langgraph;
pub use serde;

use langgraph::error::NodeError;

pub use crate::outcome::{Final, IntoFinal};
pub use crate::task::TaskGraph;

/// The value of a result.
pub trait Fallible {
    /// The value.
    type Value;

    /// Returns the value, or the error of a node.
    fn into_value(self) -> Result<Self::Value, NodeError>;
}

impl<T, E: Into<NodeError>> Fallible for Result<T, E> {
    type Value = T;

    fn into_value(self) -> Result<T, NodeError> {
        self.map_err(Into::into)
    }
}

/// Returns the parts of a result.
pub fn parts<T, M>(done: Final<T, M>) -> (T, Option<M>) {
    (done.value, done.memory)
}
