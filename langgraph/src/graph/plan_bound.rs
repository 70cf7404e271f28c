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
    /// True if the edge itself has no way out: no exit, or exits in a circle, each an edge with a bound.
    pub(crate) fails: bool,
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
                fails: false,
                names: [bound.from.clone(), bound.to.clone()],
            })
        });
        let mut bounds: Box<[Self]> = bounds.collect();
        let fails: Vec<_> = bounds.iter().map(|bound| bound.fails_in(&bounds)).collect();
        for (bound, fails) in bounds.iter_mut().zip(fails) {
            bound.fails = fails;
        }
        bounds
    }

    /// Returns true if there is no exit, or the edges to all its exits have bounds.
    fn fails_in(&self, bounds: &[Self]) -> bool {
        let mut exit = self.exit;
        for _ in bounds {
            let Exit::Node(node) = exit else {
                return matches!(self.exit, Exit::Fails);
            };
            let mut others = bounds.iter();
            match others.find(|bound| (bound.from, bound.to) == (self.from, node)) {
                Some(next) => exit = next.exit,
                None => return false,
            }
        }
        matches!(exit, Exit::Node(_)) || matches!(self.exit, Exit::Fails)
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
