//! A graph that is a node, whatever its state.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{Persistence, Resources};
use crate::checkpoint::{CheckpointId, Checkpointer, Head, InnerSnapshot, ThreadKey};
use crate::error::AgentError;
use langgraph_topology::NodeName;

/// What answers a question about a graph whose state type is not known.
pub(crate) type Looking<'a, T> =
    Pin<Box<dyn Future<Output = Result<Option<T>, AgentError>> + Send + 'a>>;

/// What changes a thread of a graph whose state type is not known.
pub(crate) type Forking<'a> = Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send + 'a>>;

/// The state of a graph whose type is not known.
pub(crate) type AnyState = Arc<dyn Any + Send + Sync>;

/// A node that is a graph.
#[derive(Clone, Copy)]
pub(crate) struct GraphNode<'a> {
    pub(crate) graph: &'a dyn InnerGraph,
    /// True when each call begins with the state of its task, false when it begins with an input.
    pub(crate) shares_state: bool,
}

/// The log of a graph inside a task.
pub(crate) struct InnerLog<'a> {
    pub(crate) saver: &'a dyn Checkpointer,
    pub(crate) key: ThreadKey,
    /// The state of the task, where it begins with that.
    pub(crate) around: Option<AnyState>,
}

/// How a log is looked at.
pub(crate) struct Look {
    /// The nodes around the graph, outermost first.
    pub(crate) namespace: Vec<NodeName>,
    /// True when the checkpoint around it is shown as it was saved.
    pub(crate) saved: bool,
}

/// A task of a log, found by its node.
pub(crate) struct FoundTask {
    pub(crate) head: Head,
    pub(crate) checkpoint: CheckpointId,
    /// The task's place among the checkpoint's.
    pub(crate) task: usize,
    /// The name that the node had when the checkpoint was stored.
    pub(crate) node: NodeName,
    /// What the task was given.
    pub(crate) state: AnyState,
    /// True when it is a task of the head whose node has not ended.
    pub(crate) pending: bool,
    /// A command from outside started it beside the tasks of the checkpoint.
    pub(crate) joined_in: bool,
    /// The call that the checkpoint is part of, in the log of a graph that is kept.
    pub(crate) call: Option<Arc<str>>,
}

/// Which task is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) node: &'a NodeName,
    /// Which of its tasks, where several run side by side.
    pub(crate) instance: Option<usize>,
    /// The way to the node, for what is wrong with it.
    pub(crate) path: &'a str,
    /// The checkpoint; without one, the newest that has such a task.
    pub(crate) at: Option<CheckpointId>,
}

/// A copy of a checkpoint that is to be made.
#[derive(Clone, Copy)]
pub(crate) struct Fork {
    pub(crate) at: CheckpointId,
    /// The id of the copy.
    pub(crate) id: CheckpointId,
    /// The head of the thread, if it is to be made at all.
    pub(crate) head: Head,
}

/// A graph, without its state type.
pub(crate) trait InnerGraph: Any + Send + Sync {
    /// What the graph is called.
    fn name(&self) -> &str;

    /// The state type.
    fn state(&self) -> &'static str;

    fn persistence(&self) -> &Persistence;

    /// What it was given.
    fn resources(&self) -> &Resources;

    /// The names of its nodes.
    fn nodes(&self) -> &[NodeName];

    /// The name that a node has today, and the graph that it is; none when there is no such node.
    fn node(&self, name: &str) -> Option<(NodeName, Option<GraphNode<'_>>)>;

    /// Where it stands in a call that `call` names; none when it has not started.
    fn look<'a>(&'a self, log: InnerLog<'a>, look: Look) -> Looking<'a, InnerSnapshot>;

    /// A task of a node.
    fn find<'a>(&'a self, log: InnerLog<'a>, wanted: Wanted<'a>) -> Looking<'a, FoundTask>;

    /// Copies a checkpoint of a thread: the tasks of the copy all run again.
    fn fork<'a>(
        &'a self,
        saver: &'a Arc<dyn Checkpointer>,
        thread: &'a str,
        fork: Fork,
    ) -> Forking<'a>;
}
