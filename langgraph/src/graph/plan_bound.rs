//! The bounds of a graph's edges, by index.

use super::Topology;
use super::index::Index;
use crate::error::AgentError;
use crate::graph::NodeName;
use crate::node::NodeId;

/// How often a run follows an edge.
#[derive(Clone)]
pub(crate) struct PlanBound {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) at_most: u32,
    /// Where the run goes after that.
    pub(crate) exit: Exit,
    pub(crate) names: [NodeName; 2],
}

/// Where a run goes that would follow an edge too often.
#[derive(Clone, Copy)]
pub(crate) enum Exit {
    /// Nowhere: it fails.
    Fails,
    /// Its branch ends.
    End,
    Node(NodeId),
}

impl PlanBound {
    /// Returns the bounds of a graph without problems.
    pub(super) fn all(topology: &Topology, index: &Index<'_>) -> Box<[Self]> {
        let bounds = topology.edge_bounds.iter();
        let bounds = bounds.filter_map(|bound| {
            Some(Self {
                from: index.source(&bound.from)?,
                to: index.of(&bound.to)?,
                at_most: bound.at_most,
                exit: match &bound.exit {
                    None => Exit::Fails,
                    Some(exit) => index.of(exit).map_or(Exit::End, Exit::Node),
                },
                names: [bound.from.clone(), bound.to.clone()],
            })
        });
        bounds.collect()
    }

    /// Returns the error of a run that would follow the edge too often.
    #[cold]
    pub(crate) fn reached(&self) -> AgentError {
        let [from, to] = self.names.clone();
        AgentError::BoundReached {
            from,
            to,
            at_most: self.at_most,
        }
    }
}
