//! Results of `once`.

use serde::{Deserialize, Serialize};

/// The result of work that ran once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnceRecord {
    pub(crate) key: String,
    /// The hash of the arguments; 0 without arguments.
    #[serde(default)]
    pub(crate) arguments: u64,
    /// The result as JSON.
    pub(crate) value: String,
}
