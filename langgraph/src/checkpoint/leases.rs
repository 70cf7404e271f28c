//! Runs that have a thread to themselves.

use std::time::Duration;

use async_trait::async_trait;

use super::CheckpointError;

/// Gives a thread to one run at a time.
///
/// Part of a saver, reached by [`Checkpointer::leases`](super::Checkpointer::leases). A lease binds
/// those who ask for one; it is no thread, and stays when the thread is deleted.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes the thread for `holder`, or renews its lease. Returns `false` while another one holds
    /// the thread. A lease that is not renewed for `term` is free.
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError>;

    /// Ends the lease of `holder`, if it has one.
    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError>;
}
