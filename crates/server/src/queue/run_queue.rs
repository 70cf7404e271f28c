//! The trait of a queue.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use super::{Cancel, Claim, Held, Job, QueueError, Signals};

/// A queue of runs, which any process may carry out.
///
/// A run waits, is claimed by a worker for a time (its lease), and ends. A worker that is lost lets
/// its leases expire; [`reap`](Self::reap) then puts its runs back. Whatever a worker does names
/// the fencing number of its claim, and does nothing once somebody else has claimed the run.
#[async_trait]
pub(crate) trait RunQueue: Send + Sync {
    /// Puts a run in the queue. With `unless_busy`, it returns false and does nothing if another
    /// run of the thread waits or runs.
    async fn push(&self, job: Job, unless_busy: bool) -> Result<bool, QueueError>;

    /// Claims the run that comes next: of those whose time has come, whose thread has no running
    /// run and no earlier one that waits, and whose concurrency key is free, the one with the
    /// highest priority that has waited longest.
    async fn claim(&self, worker: &str, lease: Duration) -> Result<Option<Claim>, QueueError>;

    /// Renews the leases of those runs of a worker, and returns the ones that it still holds. A
    /// lease that is not renewed expires, also if the worker lives.
    async fn renew(
        &self,
        worker: &str,
        lease: Duration,
        claims: &[&Claim],
    ) -> Result<Vec<Held>, QueueError>;

    /// Ends a claimed run with a status. Returns false if the claim is no longer valid.
    async fn finish(&self, claim: &Claim, status: &str) -> Result<bool, QueueError>;

    /// Puts a claimed run back, as it was: another attempt is not counted. Returns false if the
    /// claim is no longer valid.
    async fn give_back(&self, claim: &Claim) -> Result<bool, QueueError>;

    /// As [`give_back`](Self::give_back), for a run whose storage has failed: the attempt is counted,
    /// and the next one comes a little later.
    async fn give_back_failed(&self, claim: &Claim) -> Result<bool, QueueError>;

    /// Puts back the runs whose lease has expired. Those that were attempted `attempts` times end
    /// as `error`.
    async fn reap(&self, attempts: i64) -> Result<Reaped, QueueError>;

    /// Asks to cancel a run. One that waits ends at once, as `interrupted`.
    async fn cancel(&self, run: &str, action: Cancel) -> Result<Cancelled, QueueError>;

    /// Returns the runs of a thread that wait or run, in order.
    async fn open(&self, thread: &str) -> Result<Vec<String>, QueueError>;

    /// Returns when the next delayed run may start, if there is one.
    async fn next_due(&self) -> Result<Option<SystemTime>, QueueError>;

    /// Returns what changes from now on, in this process and in others.
    fn signals(&self) -> Signals;
}

/// What became of runs whose worker was lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reaped {
    /// Those that wait again.
    pub(crate) queued: Vec<String>,
    /// Those that were attempted too often.
    pub(crate) failed: Vec<String>,
}

/// What a request to cancel did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// The run waited, and has ended.
    Withdrawn,
    /// The worker of the run is asked.
    Asked,
    /// The run has ended before, or there is none.
    Ended,
}
