//! Information about a thread.

use std::sync::Arc;
use std::time::SystemTime;

use super::{Owner, RunStatus};
use crate::error::CheckpointError;
use crate::head::Head;

/// Information about a thread, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// Its name.
    pub thread: String,
    /// The head of the root graph's log.
    pub head: Head,
    /// What the root graph's log belongs to; `None` if no batch has said so, or it cannot be read.
    pub owner: Option<Arc<Owner>>,
    /// How its last run stands.
    pub status: RunStatus,
    /// When it was last written to.
    pub updated_at: SystemTime,
    /// When to look whether an interrupt of the thread is due; `None` if only an answer or an event
    /// continues it. See [`Interrupt::due_at`](crate::interrupt::Interrupt::due_at).
    pub wake_at: Option<SystemTime>,
    /// What of the above cannot be read; `None` if all can. Another thread is listed all the same.
    pub damage: Option<String>,
}

impl ThreadInfo {
    /// Creates the information from what a saver knows.
    pub fn new(
        thread: impl Into<String>,
        head: Head,
        owner: Option<Arc<Owner>>,
        status: RunStatus,
        updated_at: SystemTime,
    ) -> Self {
        Self {
            thread: thread.into(),
            head,
            owner,
            status,
            updated_at,
            wake_at: None,
            damage: None,
        }
    }

    /// Adds when the thread is to be woken.
    #[must_use]
    pub fn with_wake_at(mut self, wake_at: Option<SystemTime>) -> Self {
        self.wake_at = wake_at;
        self
    }

    /// Adds what cannot be read of the thread. Its status is then not known:
    /// [`RunStatus::Failed`] stands for it.
    #[must_use]
    pub fn with_damage(mut self, damage: Option<String>) -> Self {
        self.damage = damage;
        self
    }

    /// Returns the error of a thread that cannot be read, with its name.
    pub fn error(&self) -> Option<CheckpointError> {
        let damage = self.damage.as_ref()?;
        let what = format!("thread `{}`: {damage}", self.thread);
        Some(CheckpointError::Corrupt(what))
    }

    /// Returns true if the graph of this name has run on the thread last, or no graph is known.
    pub fn is_of(&self, graph: &str) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner.graph == graph)
    }
}
