//! How far a map is.

use langgraph_topology::NodeName;
use serde::Serialize;

/// How many items of a map are done: the tasks of one worker in one superstep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MapProgress {
    /// The worker.
    pub node: NodeName,
    /// How many items are done, in earlier runs too.
    pub done: usize,
    /// How many have failed.
    pub failed: usize,
    /// How many there are.
    pub total: usize,
}

impl MapProgress {
    pub(crate) const fn new(node: NodeName) -> Self {
        Self {
            node,
            done: 0,
            failed: 0,
            total: 0,
        }
    }
}
