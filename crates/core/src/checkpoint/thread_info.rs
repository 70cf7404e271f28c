//! Information about a thread.

use std::sync::Arc;
use std::time::SystemTime;

use super::{Owner, RunStatus};
use crate::head::Head;

/// Information about a thread, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// Its name.
    pub thread: String,
    /// The head of the root graph's log.
    pub head: Head,
    /// What the root graph's log belongs to; `None` if no batch has said so.
    pub owner: Option<Arc<Owner>>,
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
        owner: Option<Arc<Owner>>,
        status: RunStatus,
        updated_at: SystemTime,
    ) -> Self {
        Self {
            thread: thread.into(),
            head,
            owner,
            status,
            updated_at,
        }
    }
}
