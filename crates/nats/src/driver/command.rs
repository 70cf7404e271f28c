//! The messages between the futures of tasks and their driver.

use std::sync::Arc;
use std::time::Duration;

use super::mailbox::Sender;
use crate::protocol::{Body, ReportAnswer};
use langgraph::executor::{SnapshotText, TaskReport};

/// A message of a task's future to the driver.
pub(crate) enum Command {
    Submit(Submitted),
    /// The task that has been assigned to a worker.
    Send {
        task: u64,
        written: Written,
    },
    /// The answer to a report.
    Answer {
        to: String,
        answer: ReportAnswer,
    },
    /// The future has ended.
    Forget(u64),
}

/// A task as it is sent, and its snapshot.
pub(crate) struct Written {
    pub(crate) order: Body,
    pub(crate) state: Arc<SnapshotText>,
}

/// A new task.
pub(crate) struct Submitted {
    pub(crate) task: u64,
    pub(crate) fingerprint: Arc<str>,
    pub(crate) future: Sender,
    /// A small task is written before it is assigned.
    pub(crate) written: Option<Written>,
}

/// A message of the driver to a task's future.
pub(crate) enum FromDriver {
    /// The task has been assigned to a worker, and is to be written.
    Assigned,
    Report {
        report: Box<TaskReport>,
        /// Where the answer goes.
        answer: Option<String>,
    },
    Done(Body),
    /// No worker has taken it in time.
    NoWorker {
        patience: Duration,
        refused: Vec<String>,
    },
}
