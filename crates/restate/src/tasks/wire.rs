//! What travels between a driver and a task.

use langgraph::executor::{TaskOrder, TaskReply, TaskReport};
use serde::{Deserialize, Serialize};

/// The call of a task.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TaskRequest {
    pub(super) order: TaskOrder,
    pub(super) snapshot: SnapshotSent,
    /// An earlier invocation of the task was stopped, and may have left notes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) again: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SnapshotSent {
    /// A small one travels with each task.
    Text(String),
    /// The key of its notes.
    Stored(String),
}

/// The answer to it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TaskAnswer {
    pub(super) reply: TaskReply,
    /// In the order in which the task made them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) reports: Vec<TaskReport>,
}
