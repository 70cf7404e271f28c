//! Counters of a queue.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counters of a queue, as its driver sees them; see [`Queue::metrics`](crate::Queue::metrics).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tasks that were begun.
    pub begun: u64,
    /// Messages with a task; more than `done` if workers died.
    pub sent: u64,
    /// Tasks whose reply was received.
    pub done: u64,
    /// Tasks that were reassigned, because their worker was lost.
    pub reassigned: u64,
    /// Replies of workers that no longer had the task; they were dropped.
    pub duplicates: u64,
    /// Snapshots that were sent, or stored for a worker.
    pub snapshots: u64,
    /// Workers that were lost while they had tasks.
    pub lost: u64,
}

/// A worker, as a driver sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerInfo {
    /// Its name.
    pub name: String,
    /// The tasks that it has now.
    pub running: usize,
    /// The tasks that it has answered.
    pub done: u64,
    /// True once it was lost.
    pub lost: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) begun: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) done: AtomicU64,
    pub(crate) reassigned: AtomicU64,
    pub(crate) duplicates: AtomicU64,
    pub(crate) snapshots: AtomicU64,
    pub(crate) lost: AtomicU64,
    workers: Mutex<BTreeMap<String, WorkerInfo>>,
    refused: Mutex<BTreeMap<String, String>>,
}

impl Counters {
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Metrics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Metrics {
            begun: load(&self.begun),
            sent: load(&self.sent),
            done: load(&self.done),
            reassigned: load(&self.reassigned),
            duplicates: load(&self.duplicates),
            snapshots: load(&self.snapshots),
            lost: load(&self.lost),
        }
    }

    pub(crate) fn workers(&self) -> MutexGuard<'_, BTreeMap<String, WorkerInfo>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn change(&self, worker: &str, change: impl FnOnce(&mut WorkerInfo)) {
        if let Some(info) = self.workers().get_mut(worker) {
            change(info);
        }
    }

    /// Records a worker of another graph; returns true if it is new.
    pub(crate) fn refuse(&self, worker: &str, text: String) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.insert(worker.to_owned(), text).is_none()
    }

    pub(crate) fn refused(&self) -> Vec<String> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.values().cloned().collect()
    }
}
