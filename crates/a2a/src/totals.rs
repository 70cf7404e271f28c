//! What all tasks of a server amount to.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The tasks at work, and the bytes of all that are kept. Each task counts itself.
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

    /// A task begins or ends to be at work.
    pub(crate) fn work(&self, before: bool, after: bool) {
        match (before, after) {
            (false, true) => self.running.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.running.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
    }

    pub(crate) fn grow(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn shrink(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}
