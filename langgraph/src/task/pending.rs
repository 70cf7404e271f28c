//! What follows a superstep.

use super::{JoinProgress, Task, TaskResult};
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
    /// Returns the names of the nodes of the superstep.
    pub(crate) fn names(&self, plan: &Plan<S>) -> Vec<NodeName> {
        let tasks = self.tasks.iter();
        tasks.map(|task| plan.name(task.node)).collect()
    }

    /// Returns the names of the nodes that run next: those of finished tasks are not among them, unless
    /// all have finished and the superstep runs again.
    pub(crate) fn open_names(&self, plan: &Plan<S>) -> Vec<NodeName> {
        let tasks = self.tasks.iter().enumerate();
        // The input that a run begins with is stored before it is used.
        let is_open = |(index, task): &(usize, &Task<S>)| {
            let is_input = *index == 0 && task.node.is_start();
            let finished = task.result().and_then(TaskResult::finished);
            is_input || finished.is_none()
        };
        let whole = !tasks.clone().any(|task| is_open(&task));
        let open = tasks.filter(|task| whole || is_open(task));
        open.map(|(_, task)| plan.name(task.node)).collect()
    }
}
