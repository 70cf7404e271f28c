//! Threads and their subgraphs, read and changed without their state types.

use async_trait::async_trait;
use langgraph::State;
use langgraph::checkpoint::{CheckpointId, Snapshot};
use langgraph::error::AgentError;
use langgraph::graph::Topology;
use langgraph::thread::Thread;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::checkpoint_place::CheckpointPlace;
use super::event::hide_errors;
use super::history::{HistoryQuery, history};
use super::inner_states::name_inner;
use super::json::{InnerReader, snapshot_value};
use super::unwritten::Unwritten;

/// A thread, or a subgraph of one, without its state type.
#[async_trait]
pub(crate) trait AnyThread: Send + Sync {
    /// As [`Thread::outer_checkpoints`].
    async fn outer_checkpoints(&self) -> Result<Vec<CheckpointId>, AgentError>;

    /// As [`Thread::fork`], at a checkpoint.
    async fn fork(&self, at: CheckpointId) -> Result<(), AgentError>;

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

/// How clients see the snapshots of a graph.
pub(crate) struct View<'a> {
    pub(super) place: CheckpointPlace,
    pub(super) unwritten: &'a Unwritten,
    pub(super) inner: &'a [InnerReader],
    pub(super) topology: &'a Topology,
    /// Clients read why a node failed.
    pub(super) shows_errors: bool,
}

impl View<'_> {
    /// Returns a snapshot as clients see it.
    pub(super) fn shown<S: State<Update: Serialize>>(&self, snapshot: &Snapshot<S>) -> Value {
        let mut state = snapshot_value(snapshot, &self.place, self.unwritten, self.inner);
        name_inner(&mut state, self.topology);
        if !self.shows_errors {
            hide_errors(&mut state);
        }
        state
    }
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
