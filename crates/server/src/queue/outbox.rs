//! The trait of an outbox: webhooks that are sent until they arrive.

use std::time::Duration;

use async_trait::async_trait;

use super::QueueError;

/// What is sent to an address when a run has ended. It is stored together with the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) url: String,
    pub(crate) body: String,
}

/// A notice that a process sends now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    /// The same for each attempt.
    pub(crate) id: String,
    pub(crate) run: String,
    pub(crate) notice: Notice,
    /// The attempt, from 1.
    pub(crate) attempt: i64,
}

/// The notices that have not arrived.
#[async_trait]
pub(crate) trait Outbox: Send + Sync {
    /// Takes notices that are due, at most `limit`. Other processes leave them for that time.
    async fn take_due(&self, limit: usize, time: Duration) -> Result<Vec<Outgoing>, QueueError>;

    /// Removes a notice: it has arrived, or is given up.
    async fn remove(&self, id: &str) -> Result<(), QueueError>;

    /// Has a notice sent again after that time.
    async fn postpone(&self, id: &str, time: Duration) -> Result<(), QueueError>;
}
