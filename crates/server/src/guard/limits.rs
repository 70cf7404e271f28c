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
///     .run_time(Duration::from_secs(600));
/// let server = Server::new().limits(limits);
/// # let _ = server;
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    pub(crate) body: usize,
    pub(crate) threads: Option<u64>,
    pub(crate) streams: usize,
    pub(crate) runs: usize,
    pub(crate) run_time: Option<Duration>,
    pub(crate) client_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            threads: None,
            streams: 10_000,
            runs: 10_000,
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

    /// Limits the streams that are open at a time; the default is 10,000. Beyond it: status 429.
    #[must_use]
    pub fn streams(mut self, streams: usize) -> Self {
        self.streams = streams;
        self
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
