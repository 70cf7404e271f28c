//! Information about a thread.

use std::time::SystemTime;

use super::Head;

/// Information about a thread, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// Its name.
    pub thread: String,
    /// The head of the root graph's log.
    pub head: Head,
    /// True while a run has not ended: it is still running, or it was cut off.
    pub running: bool,
    /// When it was last written to.
    pub updated_at: SystemTime,
}

impl ThreadInfo {
    /// Creates the information from what a saver knows.
    pub fn new(
        thread: impl Into<String>,
        head: Head,
        running: bool,
        updated_at: SystemTime,
    ) -> Self {
        Self {
            thread: thread.into(),
            head,
            running,
            updated_at,
        }
    }
}
