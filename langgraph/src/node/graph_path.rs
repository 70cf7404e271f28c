//! The path of nodes to a graph.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use langgraph_topology::NodeName;

use super::{NodeId, Scope};

/// The path of nodes to a graph, outermost first; empty at the root.
///
/// The path to a graph in a task is put together when it is first read: most calls never read it.
#[derive(Default)]
pub(crate) struct GraphPath {
    /// The scope of the graph around, and the node that runs this graph.
    above: Option<(Arc<Scope>, NodeId)>,
    names: OnceLock<Arc<[NodeName]>>,
}

impl GraphPath {
    /// The path to a graph that a node runs.
    #[inline]
    pub(super) fn below(scope: &Arc<Scope>, node: NodeId) -> Self {
        Self {
            above: Some((Arc::clone(scope), node)),
            names: OnceLock::new(),
        }
    }

    /// Returns the names of the nodes.
    pub(crate) fn names(&self) -> Arc<[NodeName]> {
        Arc::clone(self.known())
    }

    /// Returns true if the graph is no graph in a task.
    #[inline]
    pub(crate) fn is_root(&self) -> bool {
        let is_empty = |names: &Arc<[NodeName]>| names.is_empty();
        self.above.is_none() && self.names.get().is_none_or(is_empty)
    }

    fn known(&self) -> &Arc<[NodeName]> {
        self.names.get_or_init(|| match &self.above {
            Some((scope, node)) => {
                let outer = scope.path.iter().cloned();
                outer.chain([scope.name(*node)]).collect()
            }
            None => Arc::default(),
        })
    }
}

impl From<Arc<[NodeName]>> for GraphPath {
    fn from(names: Arc<[NodeName]>) -> Self {
        Self {
            above: None,
            names: names.into(),
        }
    }
}

impl Deref for GraphPath {
    type Target = [NodeName];

    fn deref(&self) -> &[NodeName] {
        self.known()
    }
}
