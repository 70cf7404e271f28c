//! What follows a superstep.

use super::{JoinProgress, Task};
use crate::graph::NodeName;
use crate::graph::plan::Plan;
use crate::node::NodeId;
use crate::state::State;

/// The tasks of the next superstep, and what waits behind them.
pub(crate) struct Pending<'a, S: State> {
    pub(crate) tasks: &'a [Task<S>],
    /// Deferred nodes that have been reached.
    pub(crate) deferred: &'a [NodeId],
    /// The progress of each join.
    pub(crate) joins: &'a [JoinProgress],
}

// A derive would require the state to be `Copy`.
#[allow(clippy::expl_impl_clone_on_copy)]
impl<S: State> Clone for Pending<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: State> Copy for Pending<'_, S> {}

impl<S: State> Pending<'_, S> {
    /// Returns the names of the next nodes.
    pub(crate) fn names(&self, plan: &Plan<S>) -> Vec<NodeName> {
        let mut names = Vec::with_capacity(self.tasks.len());
        for task in self.tasks {
            names.push(plan.name(task.node));
        }
        names
    }
}
