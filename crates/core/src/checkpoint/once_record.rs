//! Results of `once`.

use serde::{Deserialize, Serialize};

/// The result of work that ran once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnceRecord {
    /// The key of the work.
    pub key: String,
    /// The hash of the arguments; 0 without arguments.
    #[serde(default)]
    pub arguments: u64,
    /// The result as JSON.
    pub value: String,
}
