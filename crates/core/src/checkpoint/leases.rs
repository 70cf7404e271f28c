//! Leases of threads.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use crate::error::CheckpointError;

/// Gives a thread to one run at a time.
///
/// Part of a saver, reached by [`Checkpointer::leases`](super::Checkpointer::leases). A lease binds
/// only runs that ask for one. It is independent of the thread, and remains when the thread is
/// deleted.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes the thread for `holder`, or renews its lease. Returns `false` while another holder has
    /// it. A lease expires after `term` without renewal.
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError>;

    /// Releases the lease of `holder`, if it has one.
    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError>;
}

/// Who holds a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldBy {
    /// The holder's name.
    pub holder: String,
    /// When the lease ends unless it is renewed.
    pub until: SystemTime,
}

impl HeldBy {
    /// What a saver has stored.
    pub fn new(holder: impl Into<String>, until: SystemTime) -> Self {
        Self {
            holder: holder.into(),
            until,
        }
    }
}
