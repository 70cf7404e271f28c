//! The bounds of a graph's edges, by index.

use std::sync::Arc;

use super::Topology;
use super::index::Index;
use crate::node::{Exit, PlanBound};

impl PlanBound {
    /// Returns the bounds of a graph without problems.
    pub(super) fn all(topology: &Topology, index: &Index<'_>) -> Arc<[Self]> {
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
        let mut bounds: Vec<Self> = bounds.collect();
        let fails: Vec<_> = bounds.iter().map(|bound| bound.fails_in(&bounds)).collect();
        for (bound, fails) in bounds.iter_mut().zip(fails) {
            bound.fails = fails;
        }
        bounds.into()
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
}
