//! The graphs inside a thread, each with a log of its own.

mod change;
mod descend;
mod error;
mod graph;
mod mark;
mod path;
mod seed;

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use self::descend::{Descent, Found};
use super::Keep;
use super::persistence::Persistence;
use super::view::View;
use crate::AgentError;
use crate::checkpoint::{
    CheckpointError, CheckpointId, Checkpointer, ListOptions, Snapshot, ThreadKey,
};
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::InnerGraph;
use crate::state::State;

pub use error::SubgraphError;
pub(crate) use path::PathNode;
pub use path::SubgraphPath;

/// A graph inside a thread: its log can be looked at, looked back over and changed, as that of the
/// thread itself. Made by [`CompiledStateGraph::subgraph`].
///
/// A graph that is kept per call has one log for each call; this is the newest call on the branch
/// that the thread is on, or with [`at`](Self::at) the one of an older checkpoint. A graph that is
/// kept [from call to call](super::Persistence::PerThread) has one log for all of them.
///
/// What is changed here is gone on with by the thread: `graph.proceed(thread)`.
pub struct Subgraph<T: State> {
    root: Arc<dyn InnerGraph>,
    saver: Arc<dyn Checkpointer>,
    thread: String,
    path: SubgraphPath,
    /// A checkpoint of the thread.
    at: Option<CheckpointId>,
    state: PhantomData<fn() -> T>,
}

impl<S: State> CompiledStateGraph<S> {
    /// A graph inside a thread, over the state `T`: the node that it is, or the nodes on the way to
    /// it.
    ///
    /// # Errors
    ///
    /// [`AgentError::Subgraph`] when a node on the way does not exist or is no graph, when the graph
    /// is over another state, or keeps nothing; [`CheckpointError::NoCheckpointer`].
    ///
    /// # Examples
    ///
    /// A graph inside waits, is corrected from outside, and goes on with that:
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
    /// graph.run(20).thread("t").await?; // pauses before `inner/increment`
    ///
    /// let inner = graph.subgraph::<i64>("t", "inner")?;
    /// assert_eq!(inner.get_state().await?.unwrap().values, 40);
    /// inner.update_state(100).as_node("double").await?;
    /// assert_eq!(graph.proceed("t").await?.into_state(), 101);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subgraph<T: State>(
        &self,
        thread: impl Into<String>,
        path: impl Into<SubgraphPath>,
    ) -> Result<Subgraph<T>, AgentError> {
        let thread = thread.into();
        let Some(saver) = self.saver.clone() else {
            return Err(CheckpointError::NoCheckpointer(thread).into());
        };
        let mut path = path.into();
        descend::check::<T>(self, &mut path)?;
        Ok(Subgraph {
            root: Arc::new(self.clone()),
            saver,
            thread,
            path,
            at: None,
            state: PhantomData,
        })
    }
}

/// A log of a graph inside a thread, found.
struct Opened<T: State> {
    graph: CompiledStateGraph<T>,
    key: ThreadKey,
    namespace: Vec<NodeName>,
    initial: Arc<T>,
}

impl<T: State> Subgraph<T> {
    /// The graph inside as that checkpoint of the thread has it, in place of the newest call.
    ///
    /// What is changed there is changed in a copy of that checkpoint, whose other tasks all run
    /// again; the copy becomes the thread's head, and what came after the checkpoint is kept.
    #[must_use]
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.at = Some(checkpoint);
        self
    }

    fn error(&self, error: impl FnOnce(String, String) -> SubgraphError) -> AgentError {
        error(self.thread.clone(), self.path.to_string()).into()
    }

    async fn descend(&self) -> Result<Descent<'_>, AgentError> {
        descend::descend(&*self.root, &self.saver, &self.thread, &self.path, self.at).await
    }

    /// The log at the end of a way; none when there is none yet.
    fn opened(&self, found: Found<'_>) -> Result<Opened<T>, AgentError> {
        let graph: &dyn Any = found.graph;
        let Some(graph) = graph.downcast_ref::<CompiledStateGraph<T>>() else {
            return Err(self.error(|_, path| SubgraphError::WrongState {
                path,
                expected: std::any::type_name::<T>(),
                found: found.graph.state(),
            }));
        };
        Ok(Opened {
            initial: graph.begins_with(found.around),
            graph: graph.clone(),
            key: found.key,
            namespace: self.path.names(),
        })
    }

    async fn open(&self) -> Result<Option<Opened<T>>, AgentError> {
        let found = self.descend().await?.found;
        found.map(|found| self.opened(found)).transpose()
    }
}

impl<T: State> Opened<T> {
    fn view<'a>(&'a self, saver: &'a Arc<dyn Checkpointer>) -> View<'a, T> {
        View {
            graph: &self.graph,
            saver,
            key: self.key.clone(),
            namespace: self.namespace.clone(),
            initial: Arc::clone(&self.initial),
        }
    }
}

/// Looking at it.
impl<T: State> Subgraph<T> {
    /// Where the graph stands, with what finished tasks of an unfinished superstep have written;
    /// `None` when it has not started.
    ///
    /// # Errors
    ///
    /// [`AgentError::Subgraph`] when several tasks of a node on the way run side by side and none is
    /// named; [`AgentError::Checkpoint`] when the thread cannot be read.
    pub async fn get_state(&self) -> Result<Option<Snapshot<T>>, AgentError> {
        match self.open().await? {
            Some(opened) => opened.view(&self.saver).live().await,
            None => Ok(None),
        }
    }

    /// The graph as that checkpoint of its own was saved; `None` when there is no such checkpoint.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn get_state_at(
        &self,
        checkpoint: CheckpointId,
    ) -> Result<Option<Snapshot<T>>, AgentError> {
        match self.open().await? {
            Some(opened) => opened.view(&self.saver).saved(checkpoint).await,
            None => Ok(None),
        }
    }

    /// As [`get_state`](Self::get_state) or [`get_state_at`](Self::get_state_at), with the graphs
    /// inside its pending tasks.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn get_state_with_subgraphs(
        &self,
        at: impl Into<Option<CheckpointId>> + Send,
    ) -> Result<Option<Snapshot<T>>, AgentError> {
        let at = at.into();
        match self.open().await? {
            Some(opened) => opened.view(&self.saver).with_subgraphs(at).await,
            None => Ok(None),
        }
    }

    /// Its checkpoints, newest first, those of all its branches.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn history(&self) -> Result<Vec<Snapshot<T>>, AgentError> {
        self.history_with(ListOptions::default()).await
    }

    /// Some of its checkpoints, newest first.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn history_with(&self, options: ListOptions) -> Result<Vec<Snapshot<T>>, AgentError> {
        match self.open().await? {
            Some(opened) => opened.view(&self.saver).history(options).await,
            None => Ok(Vec::new()),
        }
    }

    /// A checkpoint of its own (the head, without one) and those it came from, newest first.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn lineage(
        &self,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Vec<Snapshot<T>>, AgentError> {
        match (self.open().await?, checkpoint) {
            (Some(opened), _) => opened.view(&self.saver).lineage(checkpoint).await,
            (None, None) => Ok(Vec::new()),
            (None, Some(id)) => {
                let thread = self.thread.clone();
                Err(CheckpointError::UnknownCheckpoint { thread, id }.into())
            }
        }
    }
}

/// What is kept from call to call.
impl<T: State> Subgraph<T> {
    /// The log of a graph that is kept from call to call, and the key of the call that is pending.
    async fn kept(&self) -> Result<(Opened<T>, Descent<'_>), AgentError> {
        let mut descent = self.descend().await?;
        let found = descent.found.take();
        let found =
            found.filter(|found| matches!(found.graph.persistence(), Persistence::PerThread(_)));
        let Some(found) = found else {
            return Err(self.error(|_, path| SubgraphError::NotKept { path }));
        };
        Ok((self.opened(found)?, descent))
    }

    /// Removes old checkpoints of a graph that is kept from call to call, and says how many. Those
    /// that stay are as they were; those of a call that is pending stay all.
    ///
    /// The logs of other graphs go with the checkpoints of the thread when that is
    /// [pruned](CompiledStateGraph::prune).
    ///
    /// # Errors
    ///
    /// [`SubgraphError::NotKept`] for a graph that is kept per call;
    /// [`CheckpointError::UnknownThread`] when it has never been called.
    pub async fn prune(&self, keep: Keep) -> Result<usize, AgentError> {
        let (opened, descent) = self.kept().await?;
        let call = descent.pending_call();
        opened
            .view(&self.saver)
            .prune_but(keep, call.as_deref())
            .await
    }

    /// Forgets what a graph that is kept from call to call has kept: its next call begins anew.
    ///
    /// # Errors
    ///
    /// [`SubgraphError::NotKept`] for a graph that is kept per call; [`AgentError::Checkpoint`] when
    /// the storage fails.
    pub async fn delete(&self) -> Result<(), AgentError> {
        let (opened, descent) = self.kept().await?;
        for key in self.saver.logs(&self.thread).await? {
            if key.namespace.starts_with(&opened.key.namespace) {
                self.saver.delete_log(&key).await?;
            }
        }
        descent.run_again(&self.saver).await
    }
}

impl<T: State> Clone for Subgraph<T> {
    fn clone(&self) -> Self {
        Self {
            root: Arc::clone(&self.root),
            saver: Arc::clone(&self.saver),
            thread: self.thread.clone(),
            path: self.path.clone(),
            at: self.at,
            state: PhantomData,
        }
    }
}

impl<T: State> fmt::Debug for Subgraph<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subgraph")
            .field("thread", &self.thread)
            .field("path", &self.path.to_string())
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
