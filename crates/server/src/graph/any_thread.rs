//! Threads and their subgraphs, read and changed without their state types.

use async_trait::async_trait;
use langgraph::State;
use langgraph::checkpoint::CheckpointId;
use langgraph::error::{AgentError, SubgraphError};
use langgraph::thread::{SubgraphPath, Thread};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Change;
use super::history::{HistoryQuery, history};
use super::view::View;

/// A thread, or a subgraph of one, without its state type.
#[async_trait]
pub(crate) trait AnyThread: Send + Sync {
    /// As [`Thread::outer_checkpoints`].
    async fn outer_checkpoints(&self) -> Result<Vec<CheckpointId>, AgentError>;

    /// As [`Thread::fork`], at a checkpoint.
    async fn fork(&self, at: CheckpointId) -> Result<(), AgentError>;

    /// Applies a change, and returns the new checkpoint.
    async fn change(&self, change: Change) -> Result<CheckpointId, AgentError>;

    /// Returns the state, now or at a checkpoint; `None` if there is none.
    async fn state(
        &self,
        at: Option<CheckpointId>,
        subgraphs: bool,
        view: &View<'_>,
    ) -> Result<Option<Value>, AgentError>;

    /// Returns the checkpoints that a client asks for, the newest first.
    async fn history(
        &self,
        query: &HistoryQuery,
        view: &View<'_>,
    ) -> Result<Vec<Value>, AgentError>;
}

/// Returns the subgraph of a thread at that path, which has some state.
pub(crate) type Open<S> = fn(&Thread<S>, SubgraphPath) -> Result<Box<dyn AnyThread>, SubgraphError>;

/// As [`Open`], for subgraphs over the state `T`.
pub(super) fn open<S, T>(
    thread: &Thread<S>,
    path: SubgraphPath,
) -> Result<Box<dyn AnyThread>, SubgraphError>
where
    S: State,
    T: State,
    T::Update: Serialize + DeserializeOwned,
{
    Ok(Box::new(thread.subgraph::<T>(path)?))
}

#[async_trait]
impl<S> AnyThread for Thread<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    async fn outer_checkpoints(&self) -> Result<Vec<CheckpointId>, AgentError> {
        Self::outer_checkpoints(self).await
    }

    async fn fork(&self, at: CheckpointId) -> Result<(), AgentError> {
        Self::fork(&self.at(at)).await.map(|_| ())
    }

    async fn change(&self, change: Change) -> Result<CheckpointId, AgentError> {
        super::change::change(self.clone(), change).await
    }

    async fn state(
        &self,
        at: Option<CheckpointId>,
        subgraphs: bool,
        view: &View<'_>,
    ) -> Result<Option<Value>, AgentError> {
        let thread = match at {
            Some(at) => self.at(at),
            None => self.clone(),
        };
        let snapshot = if subgraphs {
            thread.state_with_subgraphs().await?
        } else {
            Self::state(&thread).await?
        };
        Ok(snapshot.map(|snapshot| view.shown(&snapshot)))
    }

    async fn history(
        &self,
        query: &HistoryQuery,
        view: &View<'_>,
    ) -> Result<Vec<Value>, AgentError> {
        history(self, query, view).await
    }
}
