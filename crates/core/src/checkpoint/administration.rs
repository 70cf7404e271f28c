//! Listing, copying, pruning and deleting threads.

use std::time::SystemTime;

use async_trait::async_trait;

use super::{Prune, StorageUsage, ThreadFilter, ThreadInfo, ThreadKey};
use crate::error::CheckpointError;
use crate::head::Head;

/// Lists, copies, prunes and deletes threads.
///
/// Part of a saver, reached by [`Checkpointer::administration`](super::Checkpointer::administration).
#[async_trait]
pub trait Administration: Send + Sync {
    /// Returns the threads, sorted by name.
    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError>;

    /// Sets when a thread is to be woken, if its head is still that one, and changes nothing else. For
    /// threads whose last batch did not say it.
    async fn set_wake_at(
        &self,
        thread: &str,
        head: Head,
        wake_at: Option<SystemTime>,
    ) -> Result<(), CheckpointError>;

    /// Returns the logs of a thread: the root graph's log, and those of its subgraphs.
    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError>;

    /// Returns how much storage a thread takes.
    async fn usage(&self, thread: &str) -> Result<StorageUsage, CheckpointError>;

    /// Copies a thread with all its logs. Ids stay the same.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] if `from` does not exist,
    /// [`CheckpointError::ThreadExists`] if `to` does.
    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError>;

    /// Removes checkpoints of a log with their records. Gives a snapshot to each checkpoint that
    /// was based on one of them. The operation is atomic.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::BaseGone`] if another checkpoint needs one of those to delete; see
    /// [`Prune::needed`].
    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError>;

    /// Deletes a log.
    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError>;

    /// Deletes a thread, with the logs of its subgraphs.
    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError>;

    /// As [`delete_thread`](Self::delete_thread), if the head of the thread is still that one. The
    /// operation is atomic: it deletes nothing that was stored since.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] if the head is another one.
    async fn delete_thread_at(&self, thread: &str, head: Head) -> Result<(), CheckpointError>;
}
