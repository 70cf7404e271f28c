//! A process learns what it and others do.

use std::sync::Weak;
use std::time::Duration;

use langgraph::environment;

use super::POLL_INTERVAL;
use super::attach::catch_up;
use super::lease::renew;
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::{RunQueue, Signal};

/// How long signals put off the look at all feeds, which is due when none comes.
const LONGEST_WITHOUT_LOOK: Duration = Duration::from_secs(5);

/// Takes the signals of other processes: events for streams of this one, cancellations, ends.
pub(super) async fn signal_loop(app: Weak<App>) {
    let Some(mut signals) = app.upgrade().map(|app| app.rows.signals()) else {
        return;
    };
    let mut looked = environment::steady();
    loop {
        let signal = tokio::time::timeout(POLL_INTERVAL, signals.next()).await;
        let Some(app) = app.upgrade() else { return };
        let is_due = signal.is_err() || environment::since(looked) > LONGEST_WITHOUT_LOOK;
        let mut taken = match signal {
            Ok(None) => return,
            Ok(Some(signal)) => take(&app, signal).await,
            Err(_) => Ok(()),
        };
        // A signal may be lost on its way, with a process that could not send it.
        if taken.is_ok() && is_due && app.rows.is_shared() {
            looked = environment::steady();
            taken = catch_up_all(&app).await;
        }
        if let Err(error) = taken {
            tracing::error!(?error, "failed to read the runs of other processes");
        }
    }
}

async fn take(app: &App, signal: Signal) -> ApiResult<()> {
    match signal {
        Signal::Events { run, thread } | Signal::Ended { run, thread } => {
            app.runs.watchers.wake(&thread);
            match app.runs.feeds.get(&run) {
                Some(feed) => catch_up(app, &feed).await,
                None => Ok(()),
            }
        }
        Signal::Cancel { run } if app.runs.live.get(&run).is_some() => renew(app).await,
        Signal::Cancel { .. } | Signal::Queued => Ok(()),
        Signal::Lost => {
            app.runs.watchers.wake_all();
            renew(app).await?;
            catch_up_all(app).await
        }
    }
}

async fn catch_up_all(app: &App) -> ApiResult<()> {
    for feed in app.runs.feeds.all() {
        if !feed.is_local() && feed.is_open() {
            catch_up(app, &feed).await?;
        }
    }
    Ok(())
}
