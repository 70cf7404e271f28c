//! Breakpoints between supersteps.

use crate::error::AgentError;
use crate::graph::breakpoint_paths::below;
use crate::graph::plan::Plan;
use crate::graph::stops::Stops;
use crate::node::{NodeId, Scope};
use crate::state::State;
use crate::task::Task;

/// The breakpoints of a run.
pub(crate) struct RunBreakpoints {
    pub(crate) before: Stops,
    pub(crate) after: Stops,
    /// True if the run has already passed the breakpoint before the frontier.
    pub(crate) passed: bool,
    /// True if the run was cut off at a breakpoint before what waits for it had recorded the pause.
    pub(crate) was_cut_off: bool,
    /// True if the run has paused, and goes on without an answer: at a breakpoint, in a task at least.
    pub(crate) goes_on: bool,
}

impl RunBreakpoints {
    /// Returns those of the run, or where it sets none, those of the graph's builder.
    #[inline]
    pub(crate) fn new<S: State>(plan: &Plan<S>, [before, after]: [Option<Stops>; 2]) -> Self {
        Self {
            before: before.unwrap_or_else(|| plan.interrupt_before.clone()),
            after: after.unwrap_or_else(|| plan.interrupt_after.clone()),
            passed: false,
            was_cut_off: false,
            goes_on: false,
        }
    }

    /// Adds the breakpoints of the run at nodes of this subgraph. They replace those of its builder.
    pub(crate) fn place_below<S: State>(
        &mut self,
        plan: &Plan<S>,
        scope: &Scope,
    ) -> Result<(), AgentError> {
        let shared = &scope.shared;
        let before = (&mut self.before, &shared.paths_before);
        for (stops, paths) in [before, (&mut self.after, &shared.paths_after)] {
            if let Some(inner) = below(paths, &scope.path) {
                *stops = plan.stops(&inner)?;
            }
        }
        Ok(())
    }

    /// Returns true if the run pauses after `node`, or before `next`.
    #[inline]
    pub(super) fn is_between(&self, node: NodeId, next: NodeId) -> bool {
        self.after.contains(node) || self.before.contains(next)
    }

    /// Returns true if the run pauses before these tasks. A breakpoint counts once.
    pub(crate) fn stop_before<S: State>(&mut self, tasks: &[Task<S>]) -> bool {
        let stops = self.was_cut_off || self.stops_before(tasks);
        self.passed = false;
        self.was_cut_off = false;
        stops
    }

    /// Returns true if the run will pause before these tasks.
    pub(crate) fn stops_before<S: State>(&self, tasks: &[Task<S>]) -> bool {
        !self.passed && stops(&self.before, tasks)
    }

    /// Returns true if the run pauses after these tasks.
    pub(crate) fn stop_after<S: State>(&self, tasks: &[Task<S>]) -> bool {
        stops(&self.after, tasks)
    }
}

fn stops<S: State>(stops: &Stops, tasks: &[Task<S>]) -> bool {
    !stops.is_never() && tasks.iter().any(|task| stops.contains(task.node))
}
