//! Filters for listing threads.

use std::time::SystemTime;

use super::{RunStatus, ThreadInfo};

/// Selects the threads that [`Administration::threads`](super::Administration::threads) returns.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ThreadFilter {
    /// Only threads whose last run stands so; all of them where this is empty.
    pub statuses: Vec<RunStatus>,
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

    /// Only threads whose last run stands so. Called several times, any of the statuses will do.
    #[must_use]
    pub fn status(mut self, status: RunStatus) -> Self {
        self.statuses.push(status);
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
        (self.statuses.is_empty() || self.statuses.contains(&info.status))
            && self.idle_since.is_none_or(|since| info.updated_at < since)
            && self.after.as_ref().is_none_or(|after| info.thread > *after)
    }
}
