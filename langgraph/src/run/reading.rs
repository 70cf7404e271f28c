//! Looking at a thread.

use std::sync::Arc;

use super::inside::{Looked, show};
use super::load::{Loaded, Read, load};
use crate::AgentError;
use crate::checkpoint::{CheckpointError, CheckpointId, Checkpointer, Snapshot, ThreadKey};
use crate::graph::CompiledStateGraph;
use crate::state::State;

/// Looking at threads.
impl<S: State> CompiledStateGraph<S> {
    pub(super) fn kept(
        &self,
        thread: &str,
    ) -> Result<(&Arc<dyn Checkpointer>, ThreadKey), CheckpointError> {
        match &self.saver {
            Some(saver) => Ok((saver, ThreadKey::root(thread))),
            None => Err(CheckpointError::NoCheckpointer(thread.to_owned())),
        }
    }

    /// The thread as it is now, with what finished tasks of an unfinished superstep have written;
    /// `None` when there is no such thread.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] when the thread cannot be read.
    pub async fn get_state(&self, thread: &str) -> Result<Option<Snapshot<S>>, AgentError> {
        let loaded = self.read(thread, None).await?;
        Ok(loaded.map(|loaded| loaded.live(&self.plan, &[])))
    }

    /// The thread as it is now, or as the checkpoint `at` was saved, with the graphs inside its
    /// pending tasks: [`TaskSnapshot::inside`](crate::checkpoint::TaskSnapshot::inside), to any
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
        let at = at.into();
        let Some(loaded) = self.read(thread, at).await? else {
            return Ok(None);
        };
        let (saver, key) = self.kept(thread)?;
        let looked = Looked {
            saver: &**saver,
            key: &key,
            namespace: &[],
            saved: at.is_some(),
        };
        Ok(Some(show(&self.plan, loaded, looked).await?))
    }

    async fn read(
        &self,
        thread: &str,
        at: Option<CheckpointId>,
    ) -> Result<Option<Loaded<S>>, AgentError> {
        let (saver, key) = self.kept(thread)?;
        load(&Read {
            plan: &self.plan,
            codec: self.codec.or_else(S::codec),
            initial: &Arc::new(self.plan.initial.clone()),
            saver: &**saver,
            key: &key,
            at,
            changes: false,
        })
        .await
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
        Ok(self
            .read(thread, Some(checkpoint))
            .await?
            .map(|loaded| loaded.saved(&[])))
    }
}
