//! What a process does in the background, and how it stops.

use std::sync::Arc;
use std::time::Duration;

use super::{POLL_INTERVAL, claim, clock, deliver, keeper, lease, signals};
use crate::app::App;
use crate::queue::RunQueue;

/// Starts what a process does in the background. It ends with the app.
pub(crate) fn start(app: &Arc<App>) {
    tokio::spawn(claim::claim_loop(Arc::downgrade(app)));
    tokio::spawn(signals::signal_loop(Arc::downgrade(app)));
    tokio::spawn(clock::clock_loop(Arc::downgrade(app)));
    tokio::spawn(lease::maintenance_loop(Arc::downgrade(app)));
    tokio::spawn(deliver::delivery_loop(Arc::downgrade(app)));
    keeper::start(app);
}

/// Stops claiming runs, lets those that run stop at the end of their superstep, and puts them back
/// in the queue. Those that have not stopped after `at_most` are put back as well.
pub(crate) async fn drain(app: &Arc<App>, at_most: Duration) {
    app.runs.draining.send_replace(true);
    for live in app.runs.live.all() {
        live.token.drain();
    }
    // Also a run that is just being claimed: its claim would be held by a process that is gone.
    let stopped = async {
        while !app.runs.is_idle() {
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
    // They look for the runs only now and then, unless they are notified.
    let _ = tokio::time::timeout(POLL_INTERVAL, app.rows.others_notified()).await;
    app.runs.feeds.leave();
    app.runs.watchers.wake_all();
}
