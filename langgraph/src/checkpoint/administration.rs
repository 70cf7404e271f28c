//! Listing, copying, pruning and deleting threads.

use async_trait::async_trait;

use super::{CheckpointError, Prune, ThreadFilter, ThreadInfo, ThreadKey, Usage};

/// Lists, copies, prunes and deletes threads.
///
/// Part of a saver, reached by [`Checkpointer::administration`](super::Checkpointer::administration).
#[async_trait]
pub trait Administration: Send + Sync {
    /// The threads, in the order of their names.
    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError>;

    /// The logs of a thread: the root graph's, and those of graphs inside it.
    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError>;

    /// How much storage a thread takes.
    async fn usage(&self, thread: &str) -> Result<Usage, CheckpointError>;

    /// Copies a thread with all its logs. Ids stay the same.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] without `from`, [`CheckpointError::ThreadExists`] when
    /// there is a `to`.
    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError>;

    /// Removes checkpoints of a log with their records. Gives a snapshot to those that were based on
    /// them. All of it happens, or nothing.
    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError>;

    /// Removes a log.
    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError>;

    /// Removes a thread, with the logs of graphs inside it.
    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError>;
}
