//! Listing, copying, pruning, rewinding and deleting threads.

use std::time::SystemTime;

use async_trait::async_trait;

use super::{Prune, Rewind, StorageUsage, ThreadFilter, ThreadInfo, ThreadKey};
use crate::error::CheckpointError;
use crate::head::Head;

/// Lists, copies, prunes, rewinds and deletes threads.
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

    /// Takes a log back to one of its checkpoints, which becomes the head again: all later ones are removed with their
    /// records, and so are the records that this one has got since. The operation is atomic, and raises the version of
    /// the log: a run that stores behind the old head is refused. Returns false, and changes nothing, if the log has no
    /// such checkpoint.
    ///
    /// A checkpoint is later if its id is greater, on whichever branch it is. The logs of subgraphs stay; those of
    /// later checkpoints can be [deleted](Self::delete_log).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use langgraph::checkpoint::{
    ///     Administration, Checkpointer, MemorySaver, Rewind, RunStatus, ThreadKey,
    /// };
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let saver = Arc::new(MemorySaver::new());
    /// let graph = graph.compile()?.checkpointer(Arc::clone(&saver));
    /// let thread = graph.thread("t");
    /// thread.run(1).await?;
    /// let key = ThreadKey::root("t");
    /// let before = saver.head(&key).await?.ok_or("no checkpoint")?;
    ///
    /// thread.run(10).await?;
    /// let rewind = Rewind {
    ///     to: before.id,
    ///     tasks: usize::MAX,
    ///     entries: usize::MAX,
    ///     status: RunStatus::Done,
    ///     wake_at: None,
    /// };
    /// assert!(saver.rewind(&key, rewind).await?);
    /// assert_eq!(thread.state().await?.map(|snapshot| snapshot.values), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    async fn rewind(&self, key: &ThreadKey, rewind: Rewind) -> Result<bool, CheckpointError>;

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
