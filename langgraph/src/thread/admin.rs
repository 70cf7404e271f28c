//! Copying, shortening and removing threads.

use std::time::{Duration, SystemTime};

use super::{Place, Thread, Threads};
use crate::checkpoint::{Batch, CheckpointError, ThreadFilter, ThreadInfo, ThreadKey, Usage};
use crate::error::AgentError;
use crate::state::State;

/// Which checkpoints a thread keeps when it is pruned. Its head always stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The newest ones, that many.
    Newest(usize),
    /// Those that were made since then.
    Since(SystemTime),
}

/// Copying, shortening and removing a thread.
impl<S: State> Thread<S> {
    /// Copies the thread with its history, and with what is pending, to a new thread of that name.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] without such a thread, [`CheckpointError::ThreadExists`]
    /// when there is a thread `to`. [`SubgraphError::PartOfThread`](super::SubgraphError::PartOfThread)
    /// for a graph inside a thread.
    pub async fn copy(&self, to: &str) -> Result<(), AgentError> {
        self.whole("copy")?;
        let administration = self.saver()?.administration_for("copying a thread")?;
        Ok(administration.copy_thread(&self.id, to).await?)
    }

    /// Removes the thread, with the logs of the graphs inside it.
    ///
    /// Of a graph inside that is kept [from call to call](crate::run::Persistence::PerThread), it
    /// removes what the graph has kept: the next call begins anew.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the storage fails.
    /// [`SubgraphError::NotKept`](super::SubgraphError::NotKept) for a graph inside that is kept per
    /// call.
    pub async fn delete(&self) -> Result<(), AgentError> {
        let saver = self.saver()?;
        let administration = saver.administration_for("deleting a thread")?;
        let inside = match &self.place {
            Place::Root => return Ok(administration.delete_thread(&self.id).await?),
            Place::Inside(inside) => inside,
        };
        let (log, way) = self.open_kept(inside).await?;
        for key in administration.logs(&self.id).await? {
            if key.namespace.starts_with(&log.key.namespace) {
                administration.delete_log(&key).await?;
            }
        }
        way.run_again(saver).await
    }

    /// What the thread takes, with the graphs inside it.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the storage fails.
    /// [`SubgraphError::PartOfThread`](super::SubgraphError::PartOfThread) for a graph inside a
    /// thread.
    pub async fn usage(&self) -> Result<Usage, AgentError> {
        self.whole("usage")?;
        let administration = self.saver()?.administration_for("the usage of a thread")?;
        Ok(administration.usage(&self.id).await?)
    }

    /// Removes old checkpoints of the thread, of all its branches, and says how many. Those that
    /// stay are as they were: what they were based on is folded into them.
    ///
    /// The logs of graphs inside go with the checkpoints that they belong to. Only a graph that is
    /// kept [from call to call](crate::run::Persistence::PerThread) can be pruned on its own; all
    /// checkpoints of a call that is pending stay.
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
    /// [`CheckpointError::UnknownThread`] when there is no such thread, or a graph inside has never
    /// been called; another [`AgentError::Checkpoint`] when the storage fails.
    /// [`SubgraphError::NotKept`](super::SubgraphError::NotKept) for a graph inside that is kept per
    /// call.
    pub async fn prune(&self, keep: Keep) -> Result<usize, AgentError> {
        let inside = match &self.place {
            Place::Root => return self.open_root()?.prune(keep).await,
            Place::Inside(inside) => inside,
        };
        let (log, way) = self.open_kept(inside).await?;
        log.prune_but(keep, way.pending_call().as_deref()).await
    }
}

/// Listing and removing threads.
impl<S: State> Threads<S> {
    /// The threads that fit the filter, in the order of their names.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the storage fails.
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

    /// Removes the threads that nothing was written to for `idle`, and says how many they were. A
    /// thread that is written to meanwhile stays. A run that writes more rarely than `idle` finds its
    /// thread gone, and fails with [`CheckpointError::Conflict`].
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the storage fails.
    pub async fn delete_idle(&self, idle: Duration) -> Result<usize, AgentError> {
        let saver = self.saver()?;
        let administration = saver.administration_for("deleting idle threads")?;
        let now = SystemTime::now();
        let filter = ThreadFilter {
            idle_since: Some(now.checked_sub(idle).unwrap_or(SystemTime::UNIX_EPOCH)),
            ..ThreadFilter::default()
        };
        let threads = administration.threads(filter).await?;
        let mut removed = 0;
        for ThreadInfo { thread, head, .. } in &threads {
            // Whoever has written since they were listed is ahead of this; whoever is about to write
            // comes behind it, and is told.
            let last_word = Batch {
                head: Some(*head),
                ..Batch::default()
            };
            match saver.put(&ThreadKey::root(thread.clone()), last_word).await {
                Ok(()) => {
                    administration.delete_thread(thread).await?;
                    removed += 1;
                }
                Err(CheckpointError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(removed)
    }
}
