//! How a run ends that nobody awaits any more.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::RunStatus;

/// What the thread records of a run that is dropped before its end.
#[derive(Debug)]
pub struct Ending {
    /// The code of the status.
    status: AtomicU8,
    /// True while the thread says that the run is under way.
    running: AtomicBool,
}

impl Default for Ending {
    fn default() -> Self {
        Self {
            status: AtomicU8::new(RunStatus::Cancelled.code()),
            running: AtomicBool::new(false),
        }
    }
}

impl Ending {
    /// Sets the status that a drop records.
    pub fn set(&self, status: RunStatus) {
        self.status.store(status.code(), Ordering::Relaxed);
    }

    /// Notes a status that was stored.
    pub fn stored(&self, status: RunStatus) {
        self.running.store(status.is_running(), Ordering::Relaxed);
    }

    /// Returns the status to record now, if the thread says that the run is under way.
    pub fn owed(&self) -> Option<RunStatus> {
        let running = self.running.load(Ordering::Relaxed);
        let status = RunStatus::from_code(self.status.load(Ordering::Relaxed).into());
        status.filter(|_| running)
    }
}
