//! Counters of tasks.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of the tasks that a program has given to Restate; see [`Tasks::metrics`](crate::Tasks::metrics).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskMetrics {
    /// Tasks that were begun.
    pub begun: u64,
    /// Tasks whose reply has come.
    pub done: u64,
    /// Tasks that were begun again, because an earlier driver had stopped them.
    pub again: u64,
    /// Calls of tasks that have failed: no endpoint serves them, or Restate does not answer.
    pub failed: u64,
    /// Snapshots that were stored for the tasks of a superstep.
    pub snapshots: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) begun: AtomicU64,
    pub(super) done: AtomicU64,
    pub(super) again: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) snapshots: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(super) fn now(&self) -> TaskMetrics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TaskMetrics {
            begun: load(&self.begun),
            done: load(&self.done),
            again: load(&self.again),
            failed: load(&self.failed),
            snapshots: load(&self.snapshots),
        }
    }
}
