//! What the futures of tasks and their driver tell each other.

use std::sync::Arc;
use std::time::Duration;

use super::mailbox::Sender;
use crate::protocol::{Body, ReportAnswer};
use langgraph::executor::{SnapshotText, TaskReport};

/// What the future of a task tells the driver.
pub(crate) enum Command {
    Submit(Submitted),
    /// The task that a worker waits for.
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

/// A task as it travels, and its snapshot.
pub(crate) struct Written {
    pub(crate) order: Body,
    pub(crate) state: Arc<SnapshotText>,
}

/// A new task.
pub(crate) struct Submitted {
    pub(crate) task: u64,
    pub(crate) fingerprint: Arc<str>,
    pub(crate) future: Sender,
    /// A small one is written before a worker waits for it.
    pub(crate) written: Option<Written>,
}

/// What the driver tells the future of a task.
pub(crate) enum FromDriver {
    /// A worker waits for the task.
    Wanted,
    Report {
        report: Box<TaskReport>,
        /// Where the answer goes.
        answer: Option<String>,
    },
    Done(Body),
    /// No worker has taken it in time.
    Nobody {
        patience: Duration,
        refused: Vec<String>,
    },
}
