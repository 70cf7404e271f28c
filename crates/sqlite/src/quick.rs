//! Whether jobs are quick enough for the threads of their callers.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A job is quick below this time: a task of an async program may keep its thread that long.
pub(crate) const QUICK: Duration = Duration::from_micros(200);

/// After so many quick jobs in a row, callers do them. A slow one ends that.
pub(crate) const ENOUGH: u32 = 8;

/// How many jobs in a row were quick.
#[derive(Debug, Default)]
pub(crate) struct Quick(AtomicU32);

impl Quick {
    /// Returns true if enough jobs in a row were quick.
    pub(crate) fn is_enough(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= ENOUGH
    }

    /// Notes how long a job took.
    pub(crate) fn took(&self, time: Duration) {
        let before = self.0.load(Ordering::Relaxed);
        let quick = if time < QUICK {
            before.saturating_add(1)
        } else {
            0
        };
        self.0.store(quick, Ordering::Relaxed);
    }
}
