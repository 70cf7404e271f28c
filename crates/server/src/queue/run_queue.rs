//! The trait of a queue.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use super::{Cancel, Claim, Held, Notice, QueueError, Signals};
#[cfg(test)]
use super::{Job, Pushed};

/// A queue of runs, which any process may carry out.
///
/// A run waits, is claimed by a worker for a time (its lease), and ends. A worker that is lost lets
/// its leases expire; [`reap`](Self::reap) then puts its runs back. Whatever a worker does names
/// the fencing number of its claim, and does nothing once another worker has claimed the run.
#[async_trait]
pub(crate) trait RunQueue: Send + Sync {
    /// Puts a run in the queue, unless the job says why not. The server [submits](crate::rows::Rows::submit) it with
    /// more.
    #[cfg(test)]
    async fn push(&self, job: Job) -> Result<Pushed, QueueError>;

    /// Claims the run that comes next: of those whose time has come, whose thread has no running
    /// run and no other one that comes before, and whose concurrency key is free. Owners take
    /// turns: it is a run of the next owner after `after`. Of the runs of a thread, and then of
    /// those of the owner, the one with the highest priority that was put in the queue first.
    async fn claim(
        &self,
        worker: &str,
        lease: Duration,
        after: After<'_>,
    ) -> Result<Option<Claim>, QueueError>;

    /// Lets the delayed runs take part whose time has come, but those that stop others. Returns true if there were some.
    async fn release_due(&self) -> Result<bool, QueueError>;

    /// Renews the leases of those runs of a worker, and returns the ones that it still holds. A
    /// lease that is not renewed expires, also if the worker lives.
    async fn renew(
        &self,
        worker: &str,
        lease: Duration,
        claims: &[&Claim],
    ) -> Result<Vec<Held>, QueueError>;

    /// Ends a claimed run, and has its end reported, in one transaction. Returns false if the claim
    /// is no longer valid.
    async fn finish(
        &self,
        claim: &Claim,
        end: RunEnd<'_>,
        notice: Option<Notice>,
    ) -> Result<bool, QueueError>;

    /// Puts a claimed run back, as it was: another attempt is not counted. Returns false if the
    /// claim is no longer valid.
    async fn give_back(&self, claim: &Claim) -> Result<bool, QueueError>;

    /// As [`give_back`](Self::give_back), for a run whose storage has failed: the attempt is counted,
    /// and the next one comes a little later.
    async fn give_back_failed(&self, claim: &Claim) -> Result<bool, QueueError>;

    /// Puts back the runs whose lease has expired. Those that were attempted `attempts` times are
    /// claimed by the worker, which has to end them.
    async fn reap(
        &self,
        attempts: i64,
        worker: &str,
        lease: Duration,
    ) -> Result<Reaped, QueueError>;

    /// Asks to cancel a run. One that waits ends at once, as `interrupted` with an empty result or
    /// by its removal, and its end is reported.
    async fn cancel(
        &self,
        run: &str,
        action: Cancel,
        notice: Option<Notice>,
    ) -> Result<Cancelled, QueueError>;

    /// Returns the runs of a thread that wait or run, in the order in which they were put in the
    /// queue, the one that runs first.
    async fn open(&self, thread: &str) -> Result<Vec<String>, QueueError>;

    /// As [`open`](Self::open), without those whose time has not come. One that was claimed before stays.
    async fn active(&self, thread: &str) -> Result<Vec<String>, QueueError>;

    /// Returns when the next delayed run may start, if there is one.
    async fn next_due(&self) -> Result<Option<SystemTime>, QueueError>;

    /// Returns what changes from now on, in this process and in others.
    fn signals(&self) -> Signals;
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd<'a> {
    /// With this status.
    Status(&'a str),
    /// It is removed, with its events.
    Removed,
}

/// Which owner has its turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct After<'a> {
    /// The owner whose turn was last.
    pub(crate) owner: &'a str,
    /// Owners that have as many running runs as they may.
    pub(crate) full: &'a [String],
}

#[cfg(test)]
impl After<'_> {
    /// Nothing was claimed before.
    pub(crate) const START: After<'static> = After {
        owner: "",
        full: &[],
    };
}

/// What became of runs whose worker was lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reaped {
    /// Those that wait again.
    pub(crate) queued: Vec<String>,
    /// Those that were attempted too often.
    pub(crate) failed: Vec<Claim>,
}

/// What a request to cancel did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// The run waited, and has ended.
    Withdrawn,
    /// The worker of the run is asked.
    Requested,
    /// The run has ended before, or there is none.
    Ended,
}
