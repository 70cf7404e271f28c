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
    /// Only the thread of this name.
    pub thread: Option<String>,
    /// Only threads that the graph of this name has run on last, and those that name no graph.
    pub graph: Option<String>,
    /// Only those that are to be woken at this time or before; see [`ThreadInfo::wake_at`].
    pub due_at: Option<SystemTime>,
    /// Only those of which something cannot be read; see [`ThreadInfo::damage`].
    pub damaged: bool,
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

    /// Only the thread of this name.
    #[must_use]
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.thread = Some(thread.into());
        self
    }

    /// Only threads that the graph of this name has run on last, and those that name no graph.
    #[must_use]
    pub fn graph(mut self, graph: impl Into<String>) -> Self {
        self.graph = Some(graph.into());
        self
    }

    /// Only those that are to be woken at `time` or before.
    #[must_use]
    pub fn due_at(mut self, time: SystemTime) -> Self {
        self.due_at = Some(time);
        self
    }

    /// Only those of which something cannot be read. A thread whose status cannot be read stands in no
    /// list of statuses.
    #[must_use]
    pub fn damaged(mut self) -> Self {
        self.damaged = true;
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
            && (!self.damaged || info.damage.is_some())
            && self.idle_since.is_none_or(|since| info.updated_at < since)
            && self.after.as_ref().is_none_or(|after| info.thread > *after)
            && self
                .thread
                .as_ref()
                .is_none_or(|thread| info.thread == *thread)
            && self.graph.as_ref().is_none_or(|graph| info.is_of(graph))
            && self
                .due_at
                .is_none_or(|time| info.wake_at.is_some_and(|wake_at| wake_at <= time))
    }
}
