//! Sums over the tasks of a server and of each caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The running tasks, and the bytes of all that are kept.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    running: AtomicUsize,
    bytes: AtomicUsize,
}

impl Totals {
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// The sums that include a task: those of its server and of its caller.
#[derive(Debug)]
pub(crate) struct Counted(pub(crate) [Arc<Totals>; 2]);

impl Counted {
    /// Counts a task that begins or ends to run.
    pub(crate) fn work(&self, before: bool, after: bool) {
        for totals in &self.0 {
            match (before, after) {
                (false, true) => totals.running.fetch_add(1, Ordering::Relaxed),
                (true, false) => totals.running.fetch_sub(1, Ordering::Relaxed),
                _ => 0,
            };
        }
    }

    pub(crate) fn grow(&self, bytes: usize) {
        for totals in &self.0 {
            totals.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn shrink(&self, bytes: usize) {
        for totals in &self.0 {
            totals.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}
