//! Executors: run the tasks of a superstep.
//!
//! An executor gets tasks that can be described as data (a node, its argument, the snapshot). It
//! leaves each result in the task's slot. The engine commits and routes.

pub(super) mod fast_path;
mod inline;
mod parallel;
mod running;
mod slot;
mod task_set;

use std::future::Future;

use super::log::Observer;
use super::moment::Moment;
use crate::error::AgentError;
use crate::state::State;

pub(super) use inline::Inline;
pub(super) use parallel::Parallel;
pub(super) use slot::TaskSlot;

/// A superstep that stopped before all of its tasks had ended.
pub(super) struct Stopped<S: State> {
    /// The tasks, with the results of those that ended.
    pub(super) slots: Vec<TaskSlot<S>>,
    pub(super) error: AgentError,
}

/// Runs the tasks of a superstep.
pub(super) trait Executor<S: State> {
    /// Runs the tasks without a known result on the state of `at`, and reports each end. Returns the
    /// slots in the order of the tasks.
    fn run(
        &self,
        at: &Moment<'_, S>,
        slots: Vec<TaskSlot<S>>,
        observer: &mut Observer<S>,
    ) -> impl Future<Output = Result<Vec<TaskSlot<S>>, Stopped<S>>> + Send;
}
