//! Errors of subgraphs of threads.

use langgraph_topology::NodeName;

use super::{ErrorKind, quoted};

/// Why a subgraph of a thread cannot be read or changed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SubgraphError {
    /// The path names no node.
    #[error("the path to a graph inside graph `{graph}` is empty; name at least one node")]
    EmptyPath {
        /// The graph.
        graph: String,
    },
    /// A graph on the path has no such node.
    #[error(
        "there is no node `{node}` in graph `{graph}` on the way `{path}`; it has {}",
        quoted::names(.known)
    )]
    UnknownNode {
        /// The path to the node.
        path: String,
        /// The node.
        node: NodeName,
        /// The graph.
        graph: String,
        /// The nodes that it has.
        known: Vec<NodeName>,
    },
    /// A node on the path is not a graph.
    #[error(
        "node `{path}` is no graph; a graph that a node calls with `cx.run(..)` is not on any path, only one that is a node itself"
    )]
    NoGraph {
        /// The path to the node.
        path: String,
    },
    /// The graph has another state type.
    #[error("the graph in node `{path}` is over `{found}`, not over `{expected}`")]
    WrongState {
        /// The path to the graph.
        path: String,
        /// The requested state type.
        expected: &'static str,
        /// The graph's state type.
        found: &'static str,
    },
    /// The graph persists nothing.
    #[error(
        "the graph in node `{path}` keeps nothing (`Persistence::None`), so there is nothing to look at or to change"
    )]
    KeepsNothing {
        /// The path to the graph.
        path: String,
    },
    /// Several tasks of a node run in parallel.
    #[error(
        "{tasks} tasks of node `{path}` run side by side on thread `{thread}`; say which one with `SubgraphPath::new(..).instance(n)`, from 0"
    )]
    SeveralTasks {
        /// The thread.
        thread: String,
        /// The path to the node.
        path: String,
        /// The number of tasks.
        tasks: usize,
    },
    /// The node has fewer tasks.
    #[error("there is no task `{path}` on thread `{thread}`: the node has {tasks}, counted from 0")]
    NoSuchTask {
        /// The thread.
        thread: String,
        /// The path to the node.
        path: String,
        /// The number of tasks.
        tasks: usize,
    },
    /// The graph has not started.
    #[error(
        "the graph in node `{path}` has not started on thread `{thread}`, so there is nothing to change"
    )]
    NotStarted {
        /// The thread.
        thread: String,
        /// The path to the graph.
        path: String,
    },
    /// The graph has ended, and its parent has the result.
    #[error(
        "the graph in node `{path}` has ended on thread `{thread}`, so a change of it would have no effect; go back to a checkpoint of the thread in which it is pending, with `graph.thread({thread:?}).at(..).subgraph(..)`"
    )]
    Ended {
        /// The thread.
        thread: String,
        /// The path to the graph.
        path: String,
    },
    /// A checkpoint of the thread does not determine the state of a graph under `PerThread`.
    #[error(
        "the graph in node `{path}` is kept from call to call (`Persistence::PerThread`), beside the checkpoints of thread `{thread}`; go back by checkpoints of its own: `graph.thread({thread:?}).subgraph(..)?.at(..)`"
    )]
    NotOfACheckpoint {
        /// The thread.
        thread: String,
        /// The path to the graph.
        path: String,
    },
    /// The method works only on whole threads.
    #[error(
        "the graph in node `{path}` is a part of thread `{thread}`, and `{method}` is for the whole thread; call `graph.thread({thread:?}).{method}(..)`"
    )]
    PartOfThread {
        /// The thread.
        thread: String,
        /// The path to the graph.
        path: String,
        /// The method.
        method: &'static str,
    },
    /// Only the log of a graph under `PerThread` can be pruned or deleted on its own.
    #[error(
        "the graph in node `{path}` is kept per call: its log goes with the checkpoint of the thread that it belongs to; prune or delete the thread"
    )]
    NotKept {
        /// The path to the graph.
        path: String,
    },
}

impl SubgraphError {
    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownNode { .. }
            | Self::NoGraph { .. }
            | Self::NoSuchTask { .. }
            | Self::NotStarted { .. } => ErrorKind::NotFound,
            Self::EmptyPath { .. }
            | Self::WrongState { .. }
            | Self::KeepsNothing { .. }
            | Self::SeveralTasks { .. }
            | Self::Ended { .. }
            | Self::NotOfACheckpoint { .. }
            | Self::PartOfThread { .. }
            | Self::NotKept { .. } => ErrorKind::InvalidInput,
        }
    }
}

crate::debug_is_message!(SubgraphError);
