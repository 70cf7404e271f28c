//! The end of a rewound log.

use std::time::SystemTime;

use super::RunStatus;
use crate::checkpoint_id::CheckpointId;

/// Where a log ends again; see [`Administration::rewind`](super::Administration::rewind).
#[derive(Clone, Debug)]
pub struct Rewind {
    /// The checkpoint that becomes the head again. Its base and its snapshot stay as they are.
    pub to: CheckpointId,
    /// How many of the records about its tasks stay: the first ones, in the order of storage. All of them, if it
    /// has no more.
    pub tasks: usize,
    /// How many of its updates from outside stay, likewise.
    pub entries: usize,
    /// How the last run stands then.
    pub status: RunStatus,
    /// When the thread is to be woken, if that run waits for a time; in the root graph's log.
    pub wake_at: Option<SystemTime>,
}
