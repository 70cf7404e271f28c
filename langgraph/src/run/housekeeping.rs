//! Copying, shortening and removing threads.

use std::time::{Duration, SystemTime};

use crate::AgentError;
use crate::checkpoint::{Batch, CheckpointError, ThreadFilter, ThreadInfo, ThreadKey, Usage};
use crate::graph::CompiledStateGraph;
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

/// Copying, shortening and removing threads.
impl<S: State> CompiledStateGraph<S> {
    /// Copies a thread with its history, and with what is pending.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] without `from`, [`CheckpointError::ThreadExists`] when
    /// there is a thread `to`.
    pub async fn copy_thread(&self, from: &str, to: &str) -> Result<(), AgentError> {
        let (saver, _) = self.kept(from)?;
        Ok(saver.copy_thread(from, to).await?)
    }

    /// Removes a thread, with the logs of the graphs inside it.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the storage fails.
    pub async fn delete_thread(&self, thread: &str) -> Result<(), AgentError> {
        let (saver, _) = self.kept(thread)?;
        Ok(saver.delete_thread(thread).await?)
    }

    /// Removes the threads that nothing was written to for `idle`, and says how many they were. A
    /// thread that is written to meanwhile stays. A run that writes more rarely than `idle` finds its
    /// thread gone, and fails with [`CheckpointError::Conflict`].
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the storage fails.
    pub async fn delete_idle_threads(&self, idle: Duration) -> Result<usize, AgentError> {
        let (saver, _) = self.kept("*")?;
        let now = SystemTime::now();
        let filter = ThreadFilter {
            idle_since: Some(now.checked_sub(idle).unwrap_or(SystemTime::UNIX_EPOCH)),
            ..ThreadFilter::default()
        };
        let threads = saver.threads(filter).await?;
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
                    saver.delete_thread(thread).await?;
                    removed += 1;
                }
                Err(CheckpointError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(removed)
    }

    /// The threads that the saver keeps, in the order of their names. Another graph's are among
    /// them, if it shares the saver.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the storage fails.
    pub async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, AgentError> {
        let (saver, _) = self.kept("*")?;
        Ok(saver.threads(filter).await?)
    }

    /// What a thread takes.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the storage fails.
    pub async fn usage(&self, thread: &str) -> Result<Usage, AgentError> {
        let (saver, _) = self.kept(thread)?;
        Ok(saver.usage(thread).await?)
    }

    /// Removes old checkpoints of a thread, of all its branches, and says how many. Those that stay
    /// are as they were: what they were based on is folded into them.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::run::Keep;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// graph.run(1).thread("t").await?;
    ///
    /// assert_eq!(graph.prune("t", Keep::Newest(1)).await?, 2);
    /// assert_eq!(graph.get_state("t").await?.map(|snapshot| snapshot.values), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when there is no such thread, or the storage fails.
    pub async fn prune(&self, thread: &str, keep: Keep) -> Result<usize, AgentError> {
        self.view(thread)?.prune(keep).await
    }
}
