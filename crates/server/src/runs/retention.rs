//! How long what is over is kept.

use std::time::{Duration, SystemTime};

use super::temporary::delete_unused;
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::EventLog;
use crate::rows::KeptSince;
use langgraph::environment;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// After how many seconds the temporary thread of a run is removed, if the run's process has not done so.
const ORPHAN_AGE: i64 = 600;

/// How long a server keeps what is over. Rows are removed in the background, some minutes later.
///
/// | what | kept |
/// |---|---|
/// | events of a run that has ended, for streams that come again | one hour |
/// | rows of runs, with input and result, from their end on | 30 days |
/// | threads, with their states, that nothing changes or runs on | for ever |
/// | names of requests (`Idempotency-Key`) | one day |
/// | webhooks that do not arrive | three days |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph_server::{Retention, Server};
///
/// const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// let retention = Retention::default().runs(DAY * 7).threads(DAY * 90);
/// let server = Server::new().retention(retention);
/// # let _ = server;
/// ```
#[derive(Clone, Debug)]
pub struct Retention {
    pub(crate) events: Duration,
    pub(crate) runs: Option<Duration>,
    pub(crate) threads: Option<Duration>,
    pub(crate) requests: Duration,
    pub(crate) webhooks: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            events: HOUR,
            runs: Some(DAY * 30),
            threads: None,
            requests: DAY,
            webhooks: DAY * 3,
        }
    }
}

impl Retention {
    /// Sets how long the events of a run that has ended can be replayed.
    #[must_use]
    pub fn events(mut self, time: Duration) -> Self {
        self.events = time;
        self
    }

    /// Sets how long the rows of runs are kept, from their end on. The states of their threads stay.
    #[must_use]
    pub fn runs(mut self, time: Duration) -> Self {
        self.runs = Some(time);
        self
    }

    /// Keeps the rows of runs as long as their threads.
    #[must_use]
    pub fn runs_forever(mut self) -> Self {
        self.runs = None;
        self
    }

    /// Removes threads that nothing has changed or run on for that time. A `ttl` of a request comes
    /// before it, and threads that exist already stay.
    #[must_use]
    pub fn threads(mut self, time: Duration) -> Self {
        self.threads = Some(time);
        self
    }

    /// Sets how long a request with the same `Idempotency-Key` is known.
    #[must_use]
    pub fn requests(mut self, time: Duration) -> Self {
        self.requests = time;
        self
    }

    /// Sets how long a webhook that does not arrive is sent again.
    #[must_use]
    pub fn webhooks(mut self, time: Duration) -> Self {
        self.webhooks = time;
        self
    }
}

/// Removes what is over and old, and gives its space back.
pub(super) async fn remove_old(app: &App) -> ApiResult<()> {
    let before = |time: Duration| {
        let before = environment::now().checked_sub(time);
        before.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let retention = &app.retention;
    app.rows.forget(before(retention.events)).await?;
    let kept = KeptSince {
        runs: retention.runs.map(before),
        requests: before(retention.requests),
        webhooks: before(retention.webhooks),
    };
    app.rows.remove_ended(&kept).await?;
    for thread in app.rows.orphans(ORPHAN_AGE).await? {
        delete_unused(app, &thread.thread_id).await;
    }
    app.rows.give_space_back().await?;
    Ok(())
}
