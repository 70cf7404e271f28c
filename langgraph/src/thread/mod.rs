//! Threads: the memory of a graph between runs, and their handle.
//!
//! [`CompiledStateGraph::thread`] returns the [`Thread`] of a name. The handle reads the thread,
//! starts runs on it, changes it from outside, and maintains its log. The subgraphs of a thread
//! have the same handle: [`Thread::subgraph`].

mod admin;
mod arrived;
mod check;
mod contained;
mod interrupts;
pub(crate) mod lease;
pub(crate) mod load;
pub(crate) mod loaded;
mod log_view;
mod offline;
mod prune;
mod read;
mod replay;
mod restore;
pub(crate) mod resume_values;
mod subgraph;
pub(crate) mod task_state;
mod update;
pub(crate) mod write;

use std::fmt;
use std::sync::Arc;

pub use crate::graph::thread_policy::{OnConflict, OnOpenInterrupt};
pub use admin::{DeleteIdle, DeletedIdle, Keep};
pub use subgraph::SubgraphPath;
pub use update::{StateUpdate, ThreadUpdate};

use crate::checkpoint::{CheckpointId, Checkpointer, check_thread_id};
use crate::error::{AgentError, CheckpointError, SubgraphError};
use crate::graph::CompiledStateGraph;
use crate::node::InnerGraph;
use crate::state::State;

/// A handle for one thread of a graph, or for a subgraph of a thread.
///
/// [`CompiledStateGraph::thread`] creates one without any I/O: a thread exists once a run has
/// stored something under its name. A handle is cheap to clone.
///
/// A run starts in one of three ways:
///
/// | method | the run begins with |
/// |---|---|
/// | [`run(input)`](Self::run) | a new input, from START; the same as `graph.run(input).thread(id)` |
/// | [`resume`](Self::resume), [`resume_all`](Self::resume_all), [`answer`](Self::answer) | answers to interrupts, and the tasks that wait for them |
/// | [`proceed`](Self::proceed) | the pending tasks, without an answer: after a breakpoint, an update or a failure |
///
/// [`at`](Self::at) returns the same thread at one of its checkpoints. [`subgraph`](Self::subgraph)
/// returns the handle of a subgraph, which has a log of its own.
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
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("a", |n: &i64| n + 1).add_node("b", |n: &i64| n * 2);
/// graph.add_sequence(&["a", "b"]).interrupt_before(["b"]);
/// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
///
/// let thread = graph.thread("t");
/// thread.run(1).await?; // pauses before `b`
/// let snapshot = thread.state().await?.unwrap();
/// assert_eq!((snapshot.values, &*snapshot.next[0]), (2, "b"));
///
/// thread.update(100).as_node("a").await?;
/// assert_eq!(thread.proceed().await?.finished()?, 200);
///
/// // Back to before the update.
/// assert_eq!(thread.at(snapshot.id).proceed().await?.finished()?, 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Thread<S: State> {
    id: String,
    /// The graph, with the thread's checkpointer.
    graph: CompiledStateGraph<S>,
    place: Place,
    at: Option<CheckpointId>,
    /// True if it is maintained also if another graph has run on it last.
    every_graph: bool,
}

/// The graph of a handle.
#[derive(Clone)]
enum Place {
    /// The root graph of the thread.
    Root,
    /// A graph in a task of the thread, or in a subgraph's task.
    Subgraph(SubgraphPlace),
}

/// The path to a subgraph of a thread.
#[derive(Clone)]
struct SubgraphPlace {
    root: Arc<dyn InnerGraph>,
    path: SubgraphPath,
}

impl<S: State> CompiledStateGraph<S> {
    /// Returns the thread of that name. The graph needs a checkpointer.
    ///
    /// Nothing is read or written until you await a method of the handle.
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
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// let thread = graph.thread("t");
    /// assert!(thread.state().await?.is_none());
    /// thread.run(1).await?;
    /// assert_eq!(thread.state().await?.unwrap().values, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn thread(&self, id: impl Into<String>) -> Thread<S> {
        Thread {
            id: id.into(),
            graph: self.clone(),
            place: Place::Root,
            at: None,
            every_graph: false,
        }
    }

    /// Returns the threads of the graph: those on which it has run last, and those that were stored
    /// without the name of a graph.
    pub fn threads(&self) -> Threads<S> {
        Threads {
            graph: self.clone(),
            every_graph: false,
        }
    }

    fn saver_for(&self, thread: &str) -> Result<&Arc<dyn Checkpointer>, CheckpointError> {
        check_thread_id(thread)?;
        let missing = || CheckpointError::NoCheckpointer(thread.to_owned());
        self.saver.as_ref().ok_or_else(missing)
    }
}

impl<S: State> Thread<S> {
    /// Returns the name of the thread. Its subgraphs have the same name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the thread at that checkpoint, instead of at its head: time travel.
    ///
    /// [`state`](Self::state) then returns the checkpoint as it was saved, and
    /// [`lineage`](Self::lineage) its ancestors. A run or an update starts from there; later
    /// checkpoints are kept. Methods for the whole thread ignore the checkpoint.
    ///
    /// A [`subgraph`](Self::subgraph) of it is the subgraph at that checkpoint.
    #[must_use]
    pub fn at(&self, checkpoint: CheckpointId) -> Self {
        Self {
            at: Some(checkpoint),
            ..self.clone()
        }
    }

    pub(crate) fn graph(&self) -> &CompiledStateGraph<S> {
        &self.graph
    }

    /// Returns the checkpoint of the handle, unless it is at the head.
    pub(crate) fn checkpoint(&self) -> Option<CheckpointId> {
        self.at
    }

    /// Returns the checkpointer of the thread.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::NoCheckpointer`] if the graph has none; and if the id is not valid.
    pub fn saver(&self) -> Result<&Arc<dyn Checkpointer>, CheckpointError> {
        self.graph.saver_for(&self.id)
    }

    /// Fails for a subgraph, because only whole threads have the method.
    pub(crate) fn require_root(&self, method: &'static str) -> Result<(), SubgraphError> {
        match &self.place {
            Place::Root => Ok(()),
            Place::Subgraph(inside) => Err(SubgraphError::PartOfThread {
                thread: self.id.clone(),
                path: inside.path.to_string(),
                method,
            }),
        }
    }

    fn unknown_checkpoint(&self, id: CheckpointId) -> AgentError {
        let thread = self.id.clone();
        CheckpointError::UnknownCheckpoint { thread, id }.into()
    }
}

impl<S: State> fmt::Debug for Thread<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Thread");
        shown.field("id", &self.id);
        if let Place::Subgraph(inside) = &self.place {
            shown.field("path", &inside.path.to_string());
        }
        shown.field("at", &self.at).finish_non_exhaustive()
    }
}

/// The threads of a graph's checkpointer; see [`CompiledStateGraph::threads`].
///
/// They include another graph's threads, if it shares the checkpointer.
#[derive(Clone)]
pub struct Threads<S: State> {
    pub(crate) graph: CompiledStateGraph<S>,
    every_graph: bool,
}

impl<S: State> Threads<S> {
    /// Also covers the threads of other graphs on the same checkpointer: [`list`](Self::list) shows them,
    /// [`delete_idle`](Self::delete_idle) deletes them, and [`thread`](Self::thread) maintains them.
    #[must_use]
    pub fn of_all_graphs(mut self) -> Self {
        self.every_graph = true;
        self
    }

    /// Returns the thread of that name.
    pub fn thread(&self, id: impl Into<String>) -> Thread<S> {
        Thread {
            every_graph: self.every_graph,
            ..self.graph.thread(id)
        }
    }

    /// Returns the name of the graph.
    pub fn graph_name(&self) -> &str {
        &self.graph.topology().name
    }

    /// Returns the checkpointer of the graph.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::NoCheckpointer`] if it has none.
    pub fn saver(&self) -> Result<&Arc<dyn Checkpointer>, CheckpointError> {
        self.graph.saver_for("*")
    }
}

impl_debug!([S: State] Threads<S>, |threads| graph = threads.graph);
