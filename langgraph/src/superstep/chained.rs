//! Where a chain of supersteps stops.

use crate::graph::routes::Routed;
use crate::state::State;
use crate::task::TaskResult;

/// Where a chain has stopped.
pub(super) enum Chained<S: State> {
    /// After a task, whose result is as that of any task.
    Ended(TaskResult<S>),
    /// After a task whose writes are merged and held for the log, and whose routers have answered.
    Merged(Routed<S>),
    /// Between two supersteps.
    Between,
}

/// What the tasks of a superstep have run.
pub(super) enum Ran {
    /// Themselves: their writes follow.
    Tasks,
    /// A chain, up to a task whose writes are merged.
    Merged,
    /// A chain, up to the end of a superstep.
    Supersteps,
}
