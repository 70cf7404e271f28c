//! The head of a log.

use crate::checkpoint_id::CheckpointId;

/// The head of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// The newest checkpoint.
    pub id: CheckpointId,
    /// The number of stored batches.
    pub version: u64,
}

impl Head {
    /// Creates it from what a saver has stored.
    pub fn new(id: CheckpointId, version: u64) -> Self {
        Self { id, version }
    }
}
