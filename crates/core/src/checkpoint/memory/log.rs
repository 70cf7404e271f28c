//! The log of one graph on a thread.

use std::sync::Arc;
use std::time::SystemTime;

use super::stored_log::StoredLog;
use crate::checkpoint::{GrowingLinks, ThreadInfo, ThreadKey};
use crate::error::CheckpointError;
use crate::head::Head;

/// A log, to which a run may add links that the saver has not looked at.
pub(super) struct Log {
    stored: StoredLog,
    growing: Option<Arc<dyn GrowingLinks>>,
}

impl From<StoredLog> for Log {
    fn from(stored: StoredLog) -> Self {
        Self {
            stored,
            growing: None,
        }
    }
}

impl Log {
    /// Returns the log with all links: a run that adds some shares others for what follows.
    pub(super) fn stored(&mut self) -> &mut StoredLog {
        if let Some(links) = self.growing.take() {
            self.stored.add_links(links.close());
        }
        &mut self.stored
    }

    /// Takes the links that a run adds behind `head` from now on.
    pub(super) fn share(
        &mut self,
        key: &ThreadKey,
        head: Head,
        links: Arc<dyn GrowingLinks>,
    ) -> Result<bool, CheckpointError> {
        let takes = self.stored().takes_links(key, head)?;
        let newest = links.newest();
        let takes = takes && newest.is_some_and(|(_, id, _)| head.id.is_before(id));
        self.growing = takes.then_some(links);
        Ok(takes)
    }

    /// Returns the head, and when it was created, if it is a link that the run has added.
    fn growing_head(&self) -> Option<(Head, SystemTime)> {
        let (count, id, created_at) = self.growing.as_ref()?.newest()?;
        let version = self.stored.head()?.version + count as u64;
        Some((Head::new(id, version), created_at))
    }

    pub(super) fn head(&self) -> Option<Head> {
        let growing = self.growing_head().map(|(head, _)| head);
        growing.or_else(|| self.stored.head())
    }

    /// Returns when the thread is to be woken.
    pub(super) fn wake_at(&self) -> Option<SystemTime> {
        self.stored.wake_at
    }

    /// Describes the thread, if this is its root graph's log. A run that adds links goes on adding them.
    pub(super) fn info(&self, thread: &str) -> Option<ThreadInfo> {
        let stored = &self.stored;
        let growing = self.growing_head();
        let updated_at = growing.map_or(stored.updated_at, |(_, created_at)| created_at);
        let head = growing.map(|(head, _)| head).or_else(|| stored.head())?;
        let info = ThreadInfo::new(
            thread,
            head,
            stored.owner.clone(),
            stored.status,
            updated_at,
        );
        Some(info.with_wake_at(stored.wake_at))
    }
}
