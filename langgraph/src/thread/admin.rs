//! Copying, pruning and deleting threads.

use std::time::{Duration, SystemTime};

use super::{Place, Thread, Threads};
use crate::checkpoint::{StorageUsage, ThreadFilter, ThreadInfo, check_thread_id};
use crate::error::{AgentError, CheckpointError};
use crate::state::State;

/// The checkpoints that a pruned thread keeps. Its head always stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The newest ones, up to this number.
    Newest(usize),
    /// Those created since this time.
    Since(SystemTime),
}

/// Maintains a thread: copy, prune, delete.
impl<S: State> Thread<S> {
    /// Copies the thread with its history and its pending tasks to a new thread of that name.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] without such a thread, [`CheckpointError::ThreadExists`]
    /// when there is a thread `to`. [`SubgraphError::PartOfThread`](super::SubgraphError::PartOfThread)
    /// for a graph inside a thread.
    pub async fn copy(&self, to: &str) -> Result<(), AgentError> {
        self.require_root("copy")?;
        check_thread_id(to)?;
        let administration = self.saver()?.administration_for("copying a thread")?;
        Ok(administration.copy_thread(&self.id, to).await?)
    }

    /// Deletes the thread, with the logs of its subgraphs.
    ///
    /// For a subgraph under [`PerThread`](crate::run::Persistence::PerThread), it deletes the log
    /// of the subgraph: the next call starts anew.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the storage fails.
    /// [`SubgraphError::NotKept`](super::SubgraphError::NotKept) for a subgraph that is stored per
    /// call.
    pub async fn delete(&self) -> Result<(), AgentError> {
        let saver = self.saver()?;
        let administration = saver.administration_for("deleting a thread")?;
        let inside = match &self.place {
            Place::Root => return Ok(administration.delete_thread(&self.id).await?),
            Place::Subgraph(inside) => inside,
        };
        let (log, way) = self.open_kept(inside).await?;
        for key in administration.logs(&self.id).await? {
            if key.namespace.starts_with(&log.key.namespace) {
                administration.delete_log(&key).await?;
            }
        }
        way.run_again(saver).await
    }

    /// Returns the storage that the thread takes, with its subgraphs.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the storage fails.
    /// [`SubgraphError::PartOfThread`](super::SubgraphError::PartOfThread) for a subgraph of a
    /// thread.
    pub async fn usage(&self) -> Result<StorageUsage, AgentError> {
        self.require_root("usage")?;
        let administration = self.saver()?.administration_for("the usage of a thread")?;
        Ok(administration.usage(&self.id).await?)
    }

    /// Removes old checkpoints of all branches of the thread, and returns their number. The other
    /// checkpoints keep their states: what they were based on is folded into them.
    ///
    /// The logs of subgraphs are removed with their checkpoints. Only a graph under
    /// [`PerThread`](crate::run::Persistence::PerThread) can be pruned on its own; all checkpoints
    /// of its pending call stay.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::thread::Keep;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// let thread = graph.thread("t");
    /// thread.run(1).await?;
    ///
    /// assert_eq!(thread.prune(Keep::Newest(1)).await?, 2);
    /// assert_eq!(thread.state().await?.map(|snapshot| snapshot.values), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] if there is no such thread, or the subgraph was never
    /// called; another [`AgentError::Checkpoint`] if the storage fails.
    /// [`SubgraphError::NotKept`](super::SubgraphError::NotKept) for a subgraph that is stored per
    /// call.
    pub async fn prune(&self, keep: Keep) -> Result<usize, AgentError> {
        let inside = match &self.place {
            Place::Root => return self.open_root()?.prune(keep).await,
            Place::Subgraph(inside) => inside,
        };
        let (log, way) = self.open_kept(inside).await?;
        log.prune_but(keep, way.pending_call().as_deref()).await
    }
}

/// Lists and deletes threads.
impl<S: State> Threads<S> {
    /// Returns the threads that match the filter, sorted by name.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the storage fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::{MemorySaver, ThreadFilter};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// graph.thread("one").run(1).await?;
    /// graph.thread("two").run(1).await?;
    ///
    /// let threads = graph.threads().list(ThreadFilter::new().after("one")).await?;
    /// assert_eq!((threads.len(), &*threads[0].thread), (1, "two"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, AgentError> {
        let administration = self.saver()?.administration_for("listing threads")?;
        Ok(administration.threads(filter).await?)
    }

    /// Deletes the threads without writes for `idle`, and returns their number. A thread that is
    /// written to in the meantime stays. If a run writes less often than `idle`, its thread may be
    /// deleted, and the run fails with [`CheckpointError::Conflict`].
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the storage fails.
    pub async fn delete_idle(&self, idle: Duration) -> Result<usize, AgentError> {
        let saver = self.saver()?;
        let administration = saver.administration_for("deleting idle threads")?;
        let now = SystemTime::now();
        let since = now.checked_sub(idle).unwrap_or(SystemTime::UNIX_EPOCH);
        let filter = ThreadFilter::new().idle_since(since);
        let threads = administration.threads(filter).await?;
        let mut removed = 0;
        for ThreadInfo { thread, head, .. } in &threads {
            // Not a thread that was written to since the listing.
            match administration.delete_thread_at(thread, *head).await {
                Ok(()) => removed += 1,
                Err(CheckpointError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(removed)
    }
}
