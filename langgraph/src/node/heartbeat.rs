//! Heartbeats, for the idle timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The time of a task's last progress.
///
/// Only tasks with an idle timeout have one, and the tasks of graphs inside them.
pub(crate) struct Heartbeat {
    start: Instant,
    /// In nanoseconds after `start`.
    last: AtomicU64,
    /// The heartbeat of the parent task, which this one also renews.
    outer: Option<Arc<Heartbeat>>,
}

impl Heartbeat {
    pub(crate) fn new(outer: Option<Arc<Heartbeat>>) -> Self {
        Self {
            start: Instant::now(),
            last: AtomicU64::new(0),
            outer,
        }
    }

    pub(crate) fn beat(&self) {
        let now = Instant::now().saturating_duration_since(self.start);
        let nanos = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        self.last.fetch_max(nanos, Ordering::Relaxed);
        if let Some(outer) = &self.outer {
            outer.beat();
        }
    }

    /// Returns a number that grows with each beat.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Returns when the timeout expires without further progress; `None` for never.
    pub(crate) fn due(&self, limit: Duration) -> Option<Instant> {
        let last = Duration::from_nanos(self.last());
        self.start.checked_add(last)?.checked_add(limit)
    }
}
