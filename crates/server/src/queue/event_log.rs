//! The trait of a log of events.

use std::time::SystemTime;

use async_trait::async_trait;

use super::{Claim, QueueError};

/// The events of runs, for clients that come again.
#[async_trait]
pub(crate) trait EventLog: Send + Sync {
    /// Adds events behind those that are there. Returns false, and adds none, if the claim is no
    /// longer valid.
    async fn append(&self, claim: &Claim, events: &[LoggedEvent]) -> Result<bool, QueueError>;

    /// Returns at most `limit` events of a run behind the one of number `after`; -1 for all.
    async fn read(
        &self,
        run: &str,
        after: i64,
        limit: usize,
    ) -> Result<Vec<LoggedEvent>, QueueError>;

    /// Returns the last event of a run.
    async fn last(&self, run: &str) -> Result<Option<LoggedEvent>, QueueError>;

    /// Removes the events from before that time of runs that have ended.
    async fn forget(&self, before: SystemTime) -> Result<(), QueueError>;
}

/// An event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedEvent {
    /// Its number in the run, from 0, without a gap.
    pub(crate) number: i64,
    /// When it was made, in milliseconds since 1970.
    pub(crate) made: i64,
    /// Its form.
    pub(crate) mode: String,
    /// Its name.
    pub(crate) event: String,
    /// What it says.
    pub(crate) data: String,
}
