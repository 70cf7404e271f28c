//! Why a graph has no worst case.

use std::fmt;

use crate::NodeName;

/// A run of a graph may have no end.
///
/// Its debug form is its message.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unbounded {
    /// The path of subgraphs to the place; empty for the graph itself.
    pub path: Vec<NodeName>,
    /// The reason.
    pub reason: UnboundedReason,
}

/// The reason for [`Unbounded`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnboundedReason {
    /// Nothing bounds how often a loop is run.
    Loop {
        /// Its nodes, in order.
        nodes: Vec<NodeName>,
    },
    /// Nothing bounds how many items a map starts.
    Map {
        /// The node that takes the items.
        worker: NodeName,
    },
    /// A router or a node may go to any node.
    Router {
        /// The node, or [`START`](crate::START).
        node: NodeName,
    },
    /// A node calls models or tools, and nothing bounds how often: [`Calls::UNBOUNDED`](crate::Calls::UNBOUNDED).
    Calls {
        /// The node.
        node: NodeName,
    },
}

impl Unbounded {
    /// Adds the node of the subgraph.
    pub(super) fn inside(mut self, node: &NodeName) -> Self {
        self.path.insert(0, node.clone());
        self
    }
}

impl From<UnboundedReason> for Unbounded {
    fn from(reason: UnboundedReason) -> Self {
        let path = Vec::new();
        Self { path, reason }
    }
}

impl fmt::Display for Unbounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "in subgraph `{}`: ", self.path.join(":"))?;
        }
        match &self.reason {
            UnboundedReason::Loop { nodes } => {
                let first = nodes.first().map_or("", |node| node);
                write!(
                    f,
                    "nothing bounds the loop `{} => {first}`; bound one of its edges, as in \
                     `{first} at_most 5 else END`",
                    nodes.join(" => ")
                )
            }
            UnboundedReason::Map { worker } => write!(
                f,
                "nothing bounds how many items `{worker}` is given; bound them, as in \
                 `{worker}(item) at_most 10`"
            ),
            UnboundedReason::Router { node } => write!(
                f,
                "`{node}` may go to any node; name its targets, by a path map or by `goto [..]`"
            ),
            UnboundedReason::Calls { node } => write!(
                f,
                "nothing bounds how often `{node}` calls models and tools; if it runs a graph, as a tool that is an \
                 agent does, bound the loops of that graph"
            ),
        }
    }
}

impl fmt::Debug for Unbounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Unbounded {}
