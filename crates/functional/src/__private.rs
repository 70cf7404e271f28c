//! What expansions call.

pub use langgraph;
pub use serde;
pub use serde_json;

use langgraph::error::NodeError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use crate::copy::{ByClone, Copied, NoCopy};
pub use crate::keys::Keys;
pub use crate::known_task::{Called, KnownTask, UnknownTask};
pub use crate::nothing::something;
pub use crate::outcome::Final;
pub use crate::stored::Arguments;
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

/// Returns the input of a run. One that is missing is read from nothing, as an argument that is nothing; or from no
/// arguments.
pub fn input<T: Clone + DeserializeOwned>(input: Option<&T>) -> Option<T> {
    let read = |value| T::deserialize(value).ok();
    input
        .cloned()
        .or_else(|| read(Value::Null))
        .or_else(|| read(Value::Object(Map::new())))
}
