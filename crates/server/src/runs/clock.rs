//! What a process does when its time has come: crons, waits, delayed runs, threads that expire.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use super::POLL_INTERVAL;
use super::cleanup::expire;
use super::due::release_due;
use super::wake::wake;
use crate::app::App;
use crate::queue::RunQueue;
use langgraph::environment;

/// Looks for what is due, until the process ends.
pub(super) async fn clock_loop(app: Weak<App>) {
    let Some(clock) = app.upgrade().map(|app| Arc::clone(&app.runs.clock)) else {
        return;
    };
    loop {
        let wait = {
            let Some(app) = app.upgrade() else { return };
            if app.runs.is_draining() {
                return;
            }
            let fired = crate::crons::fire(&app).await;
            if let Err(error) = &fired {
                tracing::error!(?error, "failed to fire crons");
            }
            if let Err(error) = Box::pin(wake(&app)).await {
                tracing::error!(?error, "failed to list threads whose wait is due");
            }
            if let Err(error) = Box::pin(release_due(&app)).await {
                tracing::error!(?error, "failed to list delayed runs");
            }
            if let Err(error) = expire(&app).await {
                tracing::error!(?error, "failed to list expired threads");
            }
            match fired {
                Ok(()) => until_next(&app).await,
                // A cron that is due stays due.
                Err(_) => POLL_INTERVAL,
            }
        };
        tokio::select! {
            biased;
            () = tokio::time::sleep(wait) => {}
            () = clock.notified() => {}
        }
    }
}

/// Returns the time until something is due.
async fn until_next(app: &Arc<App>) -> Duration {
    let delayed = app.rows.next_due().await.ok().flatten();
    let cron = app.rows.next_cron().await.ok().flatten();
    let cron = cron.map(|due| SystemTime::UNIX_EPOCH + Duration::from_millis(due.unsigned_abs()));
    let due = delayed.into_iter().chain(cron).min();
    let until = due.map(|due| due.duration_since(environment::now()).unwrap_or_default());
    until.map_or(POLL_INTERVAL, |until| until.min(POLL_INTERVAL)) + Duration::from_millis(1)
}
