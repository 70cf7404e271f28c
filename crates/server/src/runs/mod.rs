//! Runs: accepted, claimed, carried out, ended.

mod accept;
mod attach;
mod claim;
mod cleanup;
mod finish;
mod invocation;
mod live;
mod request;
mod session;
mod signals;
mod submit;
#[cfg(test)]
mod tests;
mod wake;

use std::sync::Arc;
use std::time::Duration;

use langgraph_sql::this_process;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use uuid::Uuid;

use crate::app::App;
use crate::queue::RunQueue;
use crate::stream::Feeds;
use live::LiveRuns;

pub(crate) use accept::{Accepted, accept};
pub(crate) use attach::attach;
pub(crate) use cleanup::{prune_thread, remove_thread};
pub(crate) use finish::{ThreadStatusUpdate, write_thread};
pub(crate) use request::{IfNotExists, Modes, OnCompletion, OnDisconnect, RunRequest};
pub(crate) use submit::{Disconnect, cancel};

/// The runs of this process.
pub(crate) struct Runs {
    pub(crate) feeds: Feeds,
    pub(crate) live: LiveRuns,
    /// The name of this process in the queue.
    worker: String,
    slots: Arc<Semaphore>,
    lease: Duration,
    draining: watch::Sender<bool>,
}

impl Runs {
    pub(crate) fn new(limit: usize, lease: Duration) -> Self {
        Self {
            feeds: Feeds::default(),
            live: LiveRuns::default(),
            worker: format!("{}/{}", this_process(), Uuid::new_v4()),
            slots: Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS))),
            lease,
            draining: watch::Sender::new(false),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns the permit for one more run.
    fn slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }
}

/// Starts what a process does in the background. It ends with the app.
pub(crate) fn start(app: &Arc<App>) {
    tokio::spawn(claim::claim_loop(Arc::downgrade(app)));
    tokio::spawn(signals::signal_loop(Arc::downgrade(app)));
    tokio::spawn(claim::maintenance_loop(Arc::downgrade(app)));
    tokio::spawn(cleanup::expiry_loop(Arc::downgrade(app)));
}

/// Stops claiming runs, lets those that run stop at the end of their superstep, and puts them back
/// in the queue. Those that have not stopped after `at_most` are put back as well.
pub(crate) async fn drain(app: &Arc<App>, at_most: Duration) {
    app.runs.draining.send_replace(true);
    for live in app.runs.live.all() {
        live.token.drain();
    }
    let stopped = async {
        while !app.runs.live.all().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(at_most, stopped).await.is_err() {
        for live in app.runs.live.all() {
            live.revoke();
            if let Err(error) = app.rows.give_back(&live.claim).await {
                tracing::error!(%error, "failed to put a run back");
            }
        }
    }
    for feed in app.runs.feeds.all() {
        feed.end(None);
    }
}
