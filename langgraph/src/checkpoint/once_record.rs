//! Work that a task has done once.

use serde::{Deserialize, Serialize};

/// The result of work that is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnceRecord {
    pub(crate) key: String,
    /// The hash of the arguments; 0 without any.
    #[serde(default)]
    pub(crate) arguments: u64,
    /// JSON.
    pub(crate) value: String,
}
