//! Leases of threads.

use std::time::Duration;

use async_trait::async_trait;

use super::CheckpointError;

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
    ) -> Result<bool, CheckpointError>;

    /// Releases the lease of `holder`, if it has one.
    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError>;
}
