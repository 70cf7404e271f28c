//! What created a checkpoint.

use serde::{Deserialize, Serialize};

/// What created a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// An input.
    Input,
    /// A superstep.
    Loop,
    /// An update from outside.
    Update,
    /// A copy of another checkpoint.
    Fork,
}
