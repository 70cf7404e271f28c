//! Nodes that are graphs, with the state type erased.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{NeededResource, Persistence, Resources};
use crate::checkpoint::{CheckNote, CheckpointId, Checkpointer, Head, InnerSnapshot, ThreadKey};
use crate::error::AgentError;
use langgraph_topology::NodeName;

/// The result of a query about a graph with an erased state type.
pub(crate) type InnerFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<Option<T>, AgentError>> + Send + 'a>>;

/// The result of a change to a graph with an erased state type.
pub(crate) type ForkFuture<'a> = Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send + 'a>>;

/// An erased state.
pub(crate) type AnyState = Arc<dyn Any + Send + Sync>;

/// A node that is a graph.
#[derive(Clone, Copy)]
pub(crate) struct GraphNode<'a> {
    pub(crate) graph: &'a dyn InnerGraph,
    /// True if each call begins with the state of its task, false if it begins with an input.
    pub(crate) shares_state: bool,
}

/// A resource that a node needs.
#[derive(Clone)]
pub(crate) struct NeededBy {
    /// The path of nodes to its graph, outermost first.
    pub(crate) namespace: Vec<NodeName>,
    pub(crate) node: NodeName,
    pub(crate) resource: NeededResource,
}

/// The log of a subgraph.
pub(crate) struct InnerLog<'a> {
    pub(crate) saver: &'a dyn Checkpointer,
    pub(crate) key: ThreadKey,
    /// The state of the task, if calls begin with it.
    pub(crate) around: Option<AnyState>,
}

/// How to read a log.
pub(crate) struct SnapshotQuery {
    /// The path of nodes to the graph, outermost first.
    pub(crate) namespace: Vec<NodeName>,
    /// True to return the parent's checkpoint as it was saved.
    pub(crate) saved: bool,
}

/// A task of a log, found by its node.
pub(crate) struct FoundTask {
    pub(crate) head: Head,
    pub(crate) checkpoint: CheckpointId,
    /// The index of the task in its checkpoint.
    pub(crate) task: usize,
    /// The name of the node when the checkpoint was stored.
    pub(crate) node: NodeName,
    /// The input of the task.
    pub(crate) state: AnyState,
    /// True for a task of the head whose node has not ended.
    pub(crate) pending: bool,
    /// True if a command from outside started it beside the tasks of the checkpoint.
    pub(crate) joined_in: bool,
    /// The call that the checkpoint belongs to, in the log of a persistent graph.
    pub(crate) call: Option<Arc<str>>,
}

/// Selects a task of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TaskChoice {
    /// By its number among the parallel tasks of the newest superstep that has some.
    Number(usize),
    /// By its id, in any superstep.
    Id(Arc<str>),
}

/// The task to find.
#[derive(Clone, Copy)]
pub(crate) struct TaskQuery<'a> {
    pub(crate) node: &'a NodeName,
    /// Which of its tasks.
    pub(crate) task: Option<&'a TaskChoice>,
    /// The path to the node, for errors.
    pub(crate) path: &'a str,
    /// The checkpoint; `None` means the newest with such a task, or any that has the task of that id.
    pub(crate) at: Option<CheckpointId>,
}

/// A copy of a checkpoint to create.
#[derive(Clone, Copy)]
pub(crate) struct Fork {
    pub(crate) at: CheckpointId,
    /// The id of the copy.
    pub(crate) id: CheckpointId,
    /// The head of the thread, or nothing if the copy is not created.
    pub(crate) head: Head,
}

/// A graph with its state type erased.
pub(crate) trait InnerGraph: Any + Send + Sync {
    /// Returns the graph's name.
    fn name(&self) -> &str;

    /// Returns the name of the state type.
    fn state(&self) -> &'static str;

    fn persistence(&self) -> &Persistence;

    /// Returns the graph's resources.
    fn resources(&self) -> &Resources;

    /// Returns the resources that its nodes need, and that it does not have itself.
    fn needs(&self) -> Vec<NeededBy>;

    /// Returns the names of its nodes.
    fn nodes(&self) -> &[NodeName];

    /// Returns the current name of a node, and its graph if it is one; `None` if there is no such
    /// node.
    fn node(&self, name: &str) -> Option<(NodeName, Option<GraphNode<'_>>)>;

    /// Returns the snapshot of the call that `log` names; `None` if it has not started.
    fn look<'a>(&'a self, log: InnerLog<'a>, look: SnapshotQuery)
    -> InnerFuture<'a, InnerSnapshot>;

    /// Fails if a run cannot go on with the call that `log` names. `path` leads to the graph.
    fn check<'a>(
        &'a self,
        log: InnerLog<'a>,
        path: Vec<NodeName>,
    ) -> InnerFuture<'a, Vec<CheckNote>>;

    /// Finds a task of a node.
    fn find<'a>(&'a self, log: InnerLog<'a>, wanted: TaskQuery<'a>) -> InnerFuture<'a, FoundTask>;

    /// Copies a checkpoint of a thread: all tasks of the copy run again.
    fn fork<'a>(
        &'a self,
        saver: &'a Arc<dyn Checkpointer>,
        thread: &'a str,
        fork: Fork,
    ) -> ForkFuture<'a>;
}
