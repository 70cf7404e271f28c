//! A thread at one moment.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::graph::NodeName;
use crate::node::Interrupt;
use crate::state::State;

/// What made a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// An input.
    Input,
    /// A superstep.
    Loop,
    /// An update from outside.
    Update,
    /// A copy of another checkpoint.
    Fork,
}

/// A thread at one of its checkpoints.
#[derive(Clone)]
#[non_exhaustive]
pub struct Snapshot<S: State> {
    /// The state.
    pub values: S,
    /// The nodes that run next.
    pub next: Vec<NodeName>,
    /// The superstep: -1 for the first input, 0 after START's edges.
    pub step: i64,
    /// What made the checkpoint.
    pub source: Source,
    /// What the tasks that are pending have asked.
    pub interrupts: Vec<Interrupt>,
}

impl<S: State + fmt::Debug> fmt::Debug for Snapshot<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("values", &self.values)
            .field("next", &self.next)
            .field("step", &self.step)
            .field("source", &self.source)
            .field("interrupts", &self.interrupts)
            .finish()
    }
}
