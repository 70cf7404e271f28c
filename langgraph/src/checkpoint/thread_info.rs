//! Information about a thread.

use std::time::SystemTime;

use super::{Head, RunStatus};

/// Information about a thread, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// Its name.
    pub thread: String,
    /// The head of the root graph's log.
    pub head: Head,
    /// How its last run stands.
    pub status: RunStatus,
    /// When it was last written to.
    pub updated_at: SystemTime,
}

impl ThreadInfo {
    /// Creates the information from what a saver knows.
    pub fn new(
        thread: impl Into<String>,
        head: Head,
        status: RunStatus,
        updated_at: SystemTime,
    ) -> Self {
        Self {
            thread: thread.into(),
            head,
            status,
            updated_at,
        }
    }
}
