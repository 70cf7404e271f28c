//! Updates that do not fit together.

use std::fmt;

use langgraph_topology::NodeName;

use super::list;
use crate::state::ReducerError;

/// What the nodes of one superstep wrote does not fit together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidUpdate {
    /// Several nodes wrote a field that has no reducer.
    #[error(
        "field `{field}` was written by {} in one superstep; give it a `#[reducer(..)]`, or run the nodes one after the other",
        list(nodes)
    )]
    Conflict {
        /// The field.
        field: String,
        /// The nodes, in task order.
        nodes: Vec<NodeName>,
    },
    /// Several nodes set a field past its reducer.
    #[error(
        "field `{field}` was overwritten by {} in one superstep; only one overwrite can win",
        list(nodes)
    )]
    Overwrites {
        /// The field.
        field: String,
        /// The nodes, in task order.
        nodes: Vec<NodeName>,
    },
    /// A node answered with the whole state beside another write.
    #[error(
        "node `{node}` returned the whole state while {} wrote too; return an update instead",
        list(others)
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
        /// Who wrote the update.
        writer: WrittenBy,
        /// What it panicked with.
        message: String,
    },
    /// A reducer refused an update.
    #[error("{writer}: {source}")]
    Reducer {
        /// Who wrote the update.
        writer: WrittenBy,
        /// Why it was refused.
        source: ReducerError,
    },
}

/// Who wrote an update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrittenBy {
    /// A node.
    Node(NodeName),
    /// The input of a run.
    Input,
    /// A change of the thread from outside, or the update of a command that resumes it.
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
