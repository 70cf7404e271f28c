//! The results of a superstep between its commit and its routing.

use crate::graph::plan::Routes;
use crate::node::{Context, Jump, NodeId};
use crate::state::State;
use crate::superstep::end::End;
use crate::superstep::task::Task;
use crate::superstep::task_result::Finished;

/// The results of a superstep's tasks, once their writes are merged.
pub(super) struct Committed<S: State> {
    pub(super) directions: Vec<Direction<S>>,
    /// The only task of the superstep, if its routers have not run.
    pub(super) unrouted: Option<Unrouted<S>>,
    /// True if a field was written.
    pub(super) wrote: bool,
    /// The tasks, for routers of several tasks that fail.
    pub(super) tasks: Vec<Task<S>>,
}

/// The targets of a task, or of all tasks that a node runs as, one for each of its items.
pub(super) struct Direction<S: State> {
    pub(super) node: NodeId,
    pub(super) jump: Jump<S>,
    pub(super) routes: Vec<Routes<S>>,
    /// The last of these tasks, whose context the routers get.
    pub(super) last: Option<Box<(usize, Context)>>,
}

/// A task whose routers run after its writes are merged.
pub(super) struct Unrouted<S: State> {
    pub(super) task: Task<S>,
    pub(super) cx: Context,
    /// The task's record for the log, to be stored after its routers have run.
    pub(super) record: Option<Finished<S>>,
}

/// What follows a commit.
pub(super) enum Flow<S: State> {
    Continue(Committed<S>),
    /// The results of an earlier run conflict, so the tasks run again.
    Again(Vec<Task<S>>),
    Pause(End),
}
