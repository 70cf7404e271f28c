//! Breakpoints between supersteps.

use crate::graph::stops::Stops;
use crate::state::State;
use crate::task::Task;

/// The breakpoints of a run.
pub(crate) struct RunBreakpoints {
    pub(crate) before: Stops,
    pub(crate) after: Stops,
    /// True if the run has already passed the breakpoint before the frontier.
    pub(crate) passed: bool,
}

impl RunBreakpoints {
    pub(crate) const fn new(before: Stops, after: Stops) -> Self {
        Self {
            before,
            after,
            passed: false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_never() && self.after.is_never()
    }

    /// Returns true if the run pauses before these tasks. A breakpoint counts once.
    pub(crate) fn stop_before<S: State>(&mut self, tasks: &[Task<S>]) -> bool {
        !std::mem::take(&mut self.passed) && stops(&self.before, tasks)
    }

    /// Returns true if the run pauses after these tasks.
    pub(crate) fn stop_after<S: State>(&self, tasks: &[Task<S>]) -> bool {
        stops(&self.after, tasks)
    }
}

fn stops<S: State>(stops: &Stops, tasks: &[Task<S>]) -> bool {
    !stops.is_never() && tasks.iter().any(|task| stops.contains(task.node))
}
