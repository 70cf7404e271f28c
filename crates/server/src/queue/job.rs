//! A run that waits.

use std::time::SystemTime;

/// A run, as it is put in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]

pub(crate) struct Job {
    /// The id of the run. The runs of a thread run in the order of their ids.
    pub(crate) run: String,
    /// The thread, which has one running run at a time.
    pub(crate) thread: String,
    /// What whoever carries out the run has to know.
    pub(crate) payload: String,
    /// When it may start at the earliest; `None`: at once.
    pub(crate) not_before: Option<SystemTime>,
    /// Runs with a higher priority start first.
    pub(crate) priority: i64,
    /// One run of those with the same key runs at a time.
    pub(crate) concurrency_key: Option<String>,
}

impl Job {
    /// Creates a job that may start at once.
    pub(crate) fn new(
        run: impl Into<String>,
        thread: impl Into<String>,
        payload: impl Into<String>,
    ) -> Self {
        Self {
            run: run.into(),
            thread: thread.into(),
            payload: payload.into(),
            not_before: None,
            priority: 0,
            concurrency_key: None,
        }
    }
}

/// What cases of queues set.
#[cfg(test)]
impl Job {
    /// Sets when it may start at the earliest.
    #[must_use]
    pub(crate) fn not_before(mut self, time: SystemTime) -> Self {
        self.not_before = Some(time);
        self
    }

    /// Sets the priority; the default is 0.
    #[must_use]
    pub(crate) fn priority(mut self, priority: i64) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the concurrency key.
    #[must_use]
    pub(crate) fn concurrency_key(mut self, key: impl Into<String>) -> Self {
        self.concurrency_key = Some(key.into());
        self
    }
}
