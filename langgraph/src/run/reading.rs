//! Looking at threads, and back over them.

use crate::AgentError;
use crate::checkpoint::{CheckpointId, ListOptions, Snapshot};
use crate::graph::CompiledStateGraph;
use crate::state::State;

/// Looking at threads.
impl<S: State> CompiledStateGraph<S> {
    /// The thread as it is now, with what finished tasks of an unfinished superstep have written;
    /// `None` when there is no such thread.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the thread cannot be read.
    pub async fn get_state(&self, thread: &str) -> Result<Option<Snapshot<S>>, AgentError> {
        self.view(thread)?.live().await
    }

    /// The thread as it is now, or as the checkpoint `at` was saved, with the graphs inside the
    /// tasks of its last superstep: [`TaskSnapshot::inside`](crate::checkpoint::TaskSnapshot::inside), to any
    /// depth.
    ///
    /// Seen are the nodes that are graphs themselves; what a node calls by
    /// [`Context::run`](crate::Context::run) is its own business.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
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
    /// graph.run(20).thread("t").await?;
    /// let snapshot = graph.get_state_with_subgraphs("t", None).await?.unwrap();
    /// assert_eq!(snapshot.values, 20);
    /// let inside = snapshot.tasks[0].inside::<i64>().unwrap();
    /// assert_eq!((inside.values, &*inside.next[0]), (40, "increment"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn get_state_with_subgraphs(
        &self,
        thread: &str,
        at: impl Into<Option<CheckpointId>> + Send,
    ) -> Result<Option<Snapshot<S>>, AgentError> {
        self.view(thread)?.with_subgraphs(at.into()).await
    }

    /// The thread as that checkpoint was saved; `None` when there is no such checkpoint.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn get_state_at(
        &self,
        thread: &str,
        checkpoint: CheckpointId,
    ) -> Result<Option<Snapshot<S>>, AgentError> {
        self.view(thread)?.saved(checkpoint).await
    }

    /// The thread's checkpoints, newest first, those of all its branches.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn history(&self, thread: &str) -> Result<Vec<Snapshot<S>>, AgentError> {
        self.history_with(thread, ListOptions::default()).await
    }

    /// Some of the thread's checkpoints, newest first.
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
    /// graph.run(1).thread("t").await?;
    ///
    /// let inputs = ListOptions::new().source(Source::Input).limit(10);
    /// assert_eq!(graph.history_with("t", inputs).await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn history_with(
        &self,
        thread: &str,
        options: ListOptions,
    ) -> Result<Vec<Snapshot<S>>, AgentError> {
        self.view(thread)?.history(options).await
    }

    /// A checkpoint (the head, without one) and those it came from, newest first: one branch of the
    /// thread, to its beginning or to where it was [pruned](Self::prune).
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn lineage(
        &self,
        thread: &str,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Vec<Snapshot<S>>, AgentError> {
        self.view(thread)?.lineage(checkpoint).await
    }
}
