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
    /// Takes the thread for `holder`, or renews its lease. Returns the holder that has it instead.
    /// A lease expires after `term` without renewal; a term of any length is valid.
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError>;

    /// Renews the lease of `holder`. Returns false if it has none any more: it was released, or another
    /// holder has taken the thread since, even if the thread is free again.
    async fn renew(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError>;

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
