//! How much clients may ask for.

use std::time::Duration;

/// How much clients may ask for. A request beyond a limit is refused, and says which one.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph_server::{Limits, Server};
///
/// let limits = Limits::default()
///     .body(1 << 20)
///     .threads(1_000)
///     .streams(500)
///     .owner_streams(20)
///     .run_time(Duration::from_secs(600));
/// let server = Server::new().limits(limits);
/// # let _ = server;
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    pub(crate) body: usize,
    pub(crate) threads: Option<u64>,
    pub(crate) streams: usize,
    pub(crate) owner_streams: usize,
    pub(crate) runs: usize,
    pub(crate) owner_runs: usize,
    pub(crate) queued_runs: u64,
    pub(crate) crons: u64,
    pub(crate) run_time: Option<Duration>,
    pub(crate) client_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            threads: None,
            streams: 10_000,
            owner_streams: 1_000,
            runs: 10_000,
            owner_runs: 1_000,
            queued_runs: 10_000,
            crons: 1_000,
            run_time: None,
            client_timeout: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// Limits the body of a request, in bytes; the default is 8 MiB. Beyond it: status 413.
    #[must_use]
    pub fn body(mut self, bytes: usize) -> Self {
        self.body = bytes;
        self
    }

    /// Limits the threads of each owner; the default is no limit. Beyond it: status 429.
    #[must_use]
    pub fn threads(mut self, threads: u64) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Limits the streams that are open at a time, and the requests that wait for a run; the default
    /// is 10,000. Beyond it: status 429.
    #[must_use]
    pub fn streams(mut self, streams: usize) -> Self {
        self.streams = streams;
        self
    }

    /// Limits those of [`streams`](Self::streams) that belong to one owner; the default is 1,000.
    /// Without authentication it has no effect: there is one owner, and it is everyone.
    #[must_use]
    pub fn owner_streams(mut self, streams: usize) -> Self {
        self.owner_streams = streams;
        self
    }

    /// Limits the runs of one owner that wait; the default is 10,000. Beyond it: status 429.
    #[must_use]
    pub fn queued_runs(mut self, runs: u64) -> Self {
        self.queued_runs = runs.max(1);
        self
    }

    /// Limits the crons of one owner; the default is 1,000. Beyond it: status 429.
    #[must_use]
    pub fn crons(mut self, crons: u64) -> Self {
        self.crons = crons;
        self
    }

    /// Limits those of [`runs`](Self::runs) that belong to one owner; the default is 1,000. Others
    /// wait, and the owners that have fewer come first. Without authentication it has no effect.
    #[must_use]
    pub fn owner_runs(mut self, runs: usize) -> Self {
        self.owner_runs = runs.max(1);
        self
    }

    /// Returns how many runs of an owner are carried out at a time, if that is limited.
    pub(crate) fn runs_of_owner(&self, authenticates: bool) -> Option<usize> {
        authenticates.then_some(self.owner_runs)
    }

    /// Limits the runs that this process works on at a time; the default is 10,000. Others wait.
    #[must_use]
    pub fn runs(mut self, runs: usize) -> Self {
        self.runs = runs.max(1);
        self
    }

    /// Limits the time of a run; the default is no limit. Beyond it, the run ends as `timeout`.
    #[must_use]
    pub fn run_time(mut self, limit: Duration) -> Self {
        self.run_time = Some(limit);
        self
    }

    /// Limits how long a client may take to send the head of a request or the next part of its
    /// body, and to take the next part of a response; the default is one minute. Beyond it, the
    /// connection is closed. [`Server::serve`](crate::Server::serve) applies it to connections, and
    /// a program that serves the routes itself has limits of its own.
    #[must_use]
    pub fn client_timeout(mut self, limit: Duration) -> Self {
        self.client_timeout = limit;
        self
    }
}
