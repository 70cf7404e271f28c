//! Executors: run the tasks of a superstep.
//!
//! An executor gets tasks that can be described as data (a node, its argument, the snapshot). It
//! leaves each result in the task's slot. The engine commits and routes.

pub(super) mod fast_path;
mod inline;
mod parallel;
mod slot;
mod task_set;

use std::future::Future;
use std::sync::Arc;

use super::log::Observer;
use super::moment::Moment;
use crate::error::AgentError;
use crate::graph::plan::Plan;
use crate::node::{NodeId, Scope};
use crate::state::State;

pub(super) use inline::Inline;
pub(super) use parallel::Parallel;
pub(super) use slot::TaskSlot;

/// What the tasks of a superstep share.
pub(super) struct Snapshot<'a, S: State> {
    pub(super) plan: &'a Arc<Plan<S>>,
    pub(super) scope: &'a Scope,
    pub(super) state: &'a Arc<S>,
    pub(super) step: i64,
}

impl<S: State> Snapshot<'_, S> {
    pub(super) fn moment(&self) -> Moment<'_, S> {
        Moment {
            plan: self.plan,
            scope: self.scope,
            state: self.state,
            step: self.step,
        }
    }
}

/// A superstep that stopped before all of its tasks had ended.
pub(super) struct Stopped<S: State> {
    /// The tasks, with the results of those that ended.
    pub(super) slots: Vec<TaskSlot<S>>,
    pub(super) error: AgentError,
}

impl<S: State> Stopped<S> {
    /// Stops because a node failed.
    pub(super) fn by(
        snapshot: &Snapshot<'_, S>,
        slots: Vec<TaskSlot<S>>,
        node: NodeId,
        error: crate::error::NodeError,
    ) -> Self {
        Self {
            slots,
            error: snapshot.moment().failure(node, error),
        }
    }
}

/// Runs the tasks of a superstep.
pub(super) trait Executor<S: State> {
    /// Runs the tasks without a known result on one snapshot, and reports each end. Returns the
    /// slots in the order of the tasks.
    fn run(
        &self,
        snapshot: &Snapshot<'_, S>,
        slots: Vec<TaskSlot<S>>,
        observer: &mut Observer<S>,
    ) -> impl Future<Output = Result<Vec<TaskSlot<S>>, Stopped<S>>> + Send;
}
