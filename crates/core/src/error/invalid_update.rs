//! Updates that cannot be merged.

use std::fmt;

use langgraph_topology::NodeName;

use super::{ReducerError, quoted};

/// Why the writes of one superstep cannot be merged.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum InvalidUpdate {
    /// Several nodes wrote a field that has no reducer.
    #[error(
        "field `{field}` was written by {} in one superstep; give it a `#[reducer(..)]`, or run the nodes one after the other",
        quoted::names(nodes)
    )]
    Conflict {
        /// The field.
        field: String,
        /// The nodes, in task order.
        nodes: Vec<NodeName>,
    },
    /// Several nodes overwrote a field.
    #[error(
        "field `{field}` was overwritten by {} in one superstep; only one overwrite can win",
        quoted::names(nodes)
    )]
    Overwrites {
        /// The field.
        field: String,
        /// The nodes, in task order.
        nodes: Vec<NodeName>,
    },
    /// A node returned the whole state while others wrote too.
    #[error(
        "node `{node}` returned the whole state while {} wrote too; return an update instead",
        quoted::names(others)
    )]
    WholeState {
        /// The node that returned the state.
        node: NodeName,
        /// The other nodes that wrote.
        others: Vec<NodeName>,
    },
    /// A reducer panicked.
    #[error("{writer}: a reducer panicked: {message}")]
    Panicked {
        /// The author of the update.
        writer: WrittenBy,
        /// The panic message.
        message: String,
    },
    /// A reducer refused an update.
    #[error("{writer}: {source}")]
    Reducer {
        /// The author of the update.
        writer: WrittenBy,
        /// The reason.
        source: ReducerError,
    },
}

/// The author of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrittenBy {
    /// A node.
    Node(NodeName),
    /// The input of a run.
    Input,
    /// An update of the thread from outside, or the update of a command that resumes it.
    External,
}

impl fmt::Display for WrittenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => write!(f, "update of node `{node}`"),
            Self::Input => f.write_str("input"),
            Self::External => f.write_str("update from outside"),
        }
    }
}

crate::debug_is_message!(InvalidUpdate);
