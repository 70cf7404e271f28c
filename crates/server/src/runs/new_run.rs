//! A run that can be put in the queue.

use std::time::Duration;

use crate::guard::Limits;
use crate::queue::{Job, RequestKey};
use crate::rows::{ChangedThread, Run, Submission, Thread, ThreadOfJob, Worker};
use crate::spec::Strategy;
use langgraph::environment;

/// A run that can be put in the queue.
#[derive(Debug)]
pub(crate) struct NewRun {
    pub(crate) row: Run,
    /// The owner of its thread.
    pub(crate) owner: String,
    pub(crate) priority: i64,
    pub(crate) concurrency_key: Option<String>,
    pub(crate) delay: Option<Duration>,
    pub(crate) cancel_on_disconnect: bool,
    pub(crate) request: Option<RequestKey>,
    /// The document of the row of its thread, if the request was decided by that: the run is refused if the row has
    /// changed, or if another run of the thread is due or runs.
    pub(super) expected_doc: Option<String>,
}

/// What becomes of the row of the thread with the run: if that is refused, nothing.
#[derive(Debug)]
pub(crate) enum ThreadOfRun {
    Unchanged,
    /// It is created.
    New {
        row: Box<Thread>,
        /// The client has named it.
        is_named: bool,
    },
    Changed(Box<ChangedThread>),
}

impl NewRun {
    /// Creates a run that starts at once.
    pub(super) fn of(row: Run, owner: &str) -> Self {
        Self {
            row,
            owner: owner.to_owned(),
            priority: 0,
            concurrency_key: None,
            delay: None,
            cancel_on_disconnect: false,
            request: None,
            expected_doc: None,
        }
    }

    /// Returns the run as it is put in the queue, with its thread.
    pub(super) fn submission<'a>(
        &'a self,
        thread: &'a ThreadOfRun,
        limits: &Limits,
        worker: Option<Worker<'a>>,
    ) -> serde_json::Result<Submission<'a>> {
        Ok(Submission {
            job: self.job(limits.queued_runs)?,
            thread: match thread {
                ThreadOfRun::Unchanged => ThreadOfJob::Unchanged,
                ThreadOfRun::New { row, is_named } => ThreadOfJob::New {
                    row,
                    limit: limits.threads,
                    is_named: *is_named,
                },
                ThreadOfRun::Changed(changed) => ThreadOfJob::Changed(changed),
            },
            worker,
        })
    }

    /// Returns true if no other run may come before it. What comes before a delayed one is not known yet.
    fn is_first(&self) -> bool {
        self.expected_doc.is_some() && self.delay.is_none()
    }

    fn job(&self, most_waiting: u64) -> serde_json::Result<Job> {
        let row = &self.row;
        let payload = serde_json::to_string(row)?;
        Ok(Job {
            priority: self.priority,
            concurrency_key: self.concurrency_key.clone(),
            not_before: self.delay.map(|delay| environment::now() + delay),
            stops: self.delay.and_then(|_| row.multitask_strategy.stops()),
            needs_thread: true,
            unless_busy: row.multitask_strategy == Strategy::Reject || self.is_first(),
            thread_doc: self.expected_doc.clone(),
            most_waiting: Some(most_waiting),
            request: self.request.clone(),
            ..Job::new(&row.run_id, &row.thread_id, payload).owner(&self.owner)
        })
    }
}
