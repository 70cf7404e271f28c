//! Signs of life, for the limit on the time without progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// When a task last showed progress.
///
/// There is one only for tasks with such a limit, and for those of the graphs inside them.
pub(crate) struct Heartbeat {
    start: Instant,
    /// Nanoseconds after `start`.
    last: AtomicU64,
    /// The task around the graph: what lives inside it keeps it alive as well.
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

    /// When the limit is exceeded unless there is progress; `None` for never.
    pub(crate) fn due(&self, limit: Duration) -> Option<Instant> {
        let last = Duration::from_nanos(self.last.load(Ordering::Relaxed));
        self.start.checked_add(last)?.checked_add(limit)
    }
}
