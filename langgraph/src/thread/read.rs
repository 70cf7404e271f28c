//! Reads the state and the history of a thread.

use super::Thread;
use super::contained::contained;
use crate::checkpoint::{ListOptions, Snapshot};
use crate::error::AgentError;
use crate::state::State;

mod snapshot;
pub(super) mod subgraphs;
pub(super) mod walk;

/// Reads a thread.
impl<S: State> Thread<S> {
    /// Returns the current state, with the writes of finished tasks of an unfinished superstep;
    /// `None` if there is no such thread. With [`at`](Self::at), returns the checkpoint as it was
    /// saved.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the thread cannot be read. For a subgraph, also
    /// [`AgentError::Subgraph`] if several tasks of a node on the path run in parallel and the path
    /// names none of them.
    pub async fn state(&self) -> Result<Option<Snapshot<S>>, AgentError> {
        let read = async {
            match self.open().await? {
                Some(log) => log.snapshot(self.at).await,
                None => Ok(None),
            }
        };
        contained(read).await
    }

    /// As [`state`](Self::state), with the subgraphs of the last superstep's tasks, at any depth:
    /// [`TaskSnapshot::inside`](crate::checkpoint::TaskSnapshot::inside).
    ///
    /// It includes nodes that are graphs. It does not include a graph that a node calls by
    /// [`Context::run`](crate::Context::run). A graph under
    /// [`PerThread`](crate::run::Persistence::PerThread) that has not begun yet shows what it remembers of earlier calls,
    /// with nothing to do next; at an older checkpoint it shows nothing, since what it knew then is not kept.
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut inner = StateGraph::<i64>::new();
    /// inner.add_node("double", |n: &i64| n * 2).add_node("increment", |n: &i64| n + 1);
    /// inner.add_sequence(&["double", "increment"]).interrupt_before(["increment"]);
    ///
    /// let mut outer = StateGraph::<i64>::new();
    /// outer.add_node("inner", inner.compile()?).add_sequence(&["inner"]);
    /// let graph = outer.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// let thread = graph.thread("t");
    /// thread.run(20).await?;
    /// let snapshot = thread.state_with_subgraphs().await?.unwrap();
    /// assert_eq!(snapshot.values, 20);
    /// let inside = snapshot.tasks[0].inside::<i64>().unwrap();
    /// assert_eq!((inside.values, &*inside.next[0]), (40, "increment"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn state_with_subgraphs(&self) -> Result<Option<Snapshot<S>>, AgentError> {
        let read = async {
            match self.open().await? {
                Some(log) => log.snapshot_with_subgraphs(self.at).await,
                None => Ok(None),
            }
        };
        contained(read).await
    }

    /// Returns the checkpoints of all branches of the thread, newest first.
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state).
    pub async fn history(&self) -> Result<Vec<Snapshot<S>>, AgentError> {
        self.history_with(ListOptions::default()).await
    }

    /// Returns some of the thread's checkpoints, newest first.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::{ListOptions, MemorySaver, Source};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// let thread = graph.thread("t");
    /// thread.run(1).await?;
    ///
    /// let inputs = ListOptions::new().source(Source::Input).limit(10);
    /// assert_eq!(thread.history_with(inputs).await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state).
    pub async fn history_with(&self, options: ListOptions) -> Result<Vec<Snapshot<S>>, AgentError> {
        let read = async {
            match self.open().await? {
                Some(log) => log.history(options).await,
                None => Ok(Vec::new()),
            }
        };
        contained(read).await
    }

    /// Returns the head, or the checkpoint of [`at`](Self::at), and its ancestors, newest first:
    /// one branch of the thread, to its beginning or to where it was [pruned](Self::prune).
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state); [`CheckpointError::UnknownCheckpoint`] if there is no such
    /// checkpoint.
    ///
    /// [`CheckpointError::UnknownCheckpoint`]: crate::error::CheckpointError::UnknownCheckpoint
    pub async fn lineage(&self) -> Result<Vec<Snapshot<S>>, AgentError> {
        let read = async {
            match (self.open().await?, self.at) {
                (Some(log), at) => log.lineage(at).await,
                (None, None) => Ok(Vec::new()),
                (None, Some(id)) => Err(self.unknown_checkpoint(id)),
            }
        };
        contained(read).await
    }
}
