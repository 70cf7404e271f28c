//! Filters for listing threads.

use std::time::SystemTime;

use super::ThreadInfo;

/// Selects the threads that [`Administration::threads`](super::Administration::threads) returns.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ThreadFilter {
    /// Only those with a run that has not ended, or only those without one.
    pub running: Option<bool>,
    /// Only those that were last written to before this time.
    pub idle_since: Option<SystemTime>,
    /// Only those whose name sorts after this one.
    pub after: Option<String>,
    /// At most this many.
    pub limit: Option<usize>,
}

impl ThreadFilter {
    /// Selects all threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those with a run that has not ended, or only those without one.
    #[must_use]
    pub fn running(mut self, running: bool) -> Self {
        self.running = Some(running);
        self
    }

    /// Only those that were last written to before `time`.
    #[must_use]
    pub fn idle_since(mut self, time: SystemTime) -> Self {
        self.idle_since = Some(time);
        self
    }

    /// Only those whose name sorts after `thread`.
    #[must_use]
    pub fn after(mut self, thread: impl Into<String>) -> Self {
        self.after = Some(thread.into());
        self
    }

    /// At most `limit`.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns true if this filter selects a thread. `limit` is ignored, because it depends on the
    /// others.
    pub fn wants(&self, info: &ThreadInfo) -> bool {
        self.running.is_none_or(|running| info.running == running)
            && self.idle_since.is_none_or(|since| info.updated_at < since)
            && self.after.as_ref().is_none_or(|after| info.thread > *after)
    }
}
