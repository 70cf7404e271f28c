//! A thread as it was loaded.

use std::sync::Arc;

use super::task_state::TaskState;
use crate::checkpoint::{Head, Owner, Stored};
use crate::state::State;
use crate::task::Changes;

/// The state of a thread at one of its checkpoints.
pub(crate) struct Loaded<S: State> {
    pub(crate) state: Arc<S>,
    pub(crate) stored: Stored,
    pub(crate) head: Head,
    /// What the log belongs to, if that is stored.
    pub(crate) owner: Option<Arc<Owner>>,
    pub(crate) tasks: Vec<TaskState<S>>,
    /// All changes since the beginning of the log.
    pub(crate) changes: Option<Changes<S>>,
}
