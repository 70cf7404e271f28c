//! A process claims runs, and keeps its claims.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;

use super::cleanup::remove_old;
use super::finish::fail_lost_run;
use super::session::execute;
use super::wake::wake;
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::{RunQueue, Signal};

/// How often a run is attempted whose process is lost.
const ATTEMPTS: i64 = 3;

/// How long a process waits without a signal before it looks by itself.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Claims runs and starts crons, whenever there is something to do.
pub(super) async fn claim_loop(app: Weak<App>) {
    let Some(mut signals) = app.upgrade().map(|app| app.rows.signals()) else {
        return;
    };
    loop {
        // All signals so far are one reason to look.
        while let Some(Some(_)) = signals.next().now_or_never() {}
        let wait = {
            let Some(app) = app.upgrade() else { return };
            if app.runs.is_draining() {
                return;
            }
            if let Err(error) = crate::crons::fire(&app).await {
                tracing::error!(?error, "failed to list due crons");
            }
            if let Err(error) = wake(&app).await {
                tracing::error!(?error, "failed to list threads whose wait is due");
            }
            claim_all(&app).await;
            until_next(&app).await
        };
        let sleep = tokio::time::sleep(wait);
        tokio::pin!(sleep);
        loop {
            tokio::select! {
                () = &mut sleep => break,
                signal = signals.next() => match signal {
                    Some(Signal::Queued | Signal::Ended(_) | Signal::Lost) => break,
                    Some(_) => {}
                    None => return,
                },
            }
        }
    }
}

async fn claim_all(app: &Arc<App>) {
    while !app.runs.is_draining() {
        let Some(slot) = app.runs.slot() else {
            return;
        };
        match app.rows.claim(&app.runs.worker, app.runs.lease).await {
            Ok(Some(claim)) => {
                let app = Arc::clone(app);
                tokio::spawn(async move {
                    execute(&app, claim).await;
                    drop(slot);
                    app.rows.wake();
                });
            }
            Ok(None) => return,
            Err(error) => {
                tracing::error!(%error, "failed to claim a run");
                return;
            }
        }
    }
}

/// Returns the time until something is due.
async fn until_next(app: &App) -> Duration {
    let delayed = app.rows.next_due().await.ok().flatten();
    let cron = app.rows.next_cron().await.ok().flatten();
    let cron = cron.map(|due| SystemTime::UNIX_EPOCH + Duration::from_millis(due.unsigned_abs()));
    let due = delayed.into_iter().chain(cron).min();
    let until = due.map(|due| due.duration_since(SystemTime::now()).unwrap_or_default());
    until.map_or(POLL_INTERVAL, |until| until.min(POLL_INTERVAL)) + Duration::from_millis(1)
}

/// Renews the leases of the runs that this process carries out, and learns which of them were
/// cancelled or lost.
pub(super) async fn renew(app: &App) -> ApiResult<()> {
    let mine = app.runs.live.all();
    let mine: Vec<_> = mine.into_iter().filter(|live| !live.is_revoked()).collect();
    let claims: Vec<_> = mine.iter().map(|live| &live.claim).collect();
    let held = app
        .rows
        .renew(&app.runs.worker, app.runs.lease, &claims)
        .await?;
    for live in mine {
        let claim = &live.claim;
        let found = held
            .iter()
            .find(|held| held.run == claim.run && held.fence == claim.fence);
        match found {
            Some(held) => {
                if let Some(action) = held.cancel {
                    live.cancel(action);
                }
            }
            // It may have ended while the database was asked.
            None if app.runs.live.get(&claim.run).is_some()
                && !app.rows.is_valid(&claim.run, claim.fence).await? =>
            {
                live.revoke();
            }
            None => {}
        }
    }
    Ok(())
}

/// Renews leases, finds the runs of lost processes, and removes what is old.
pub(super) async fn maintenance_loop(app: Weak<App>) {
    let mut rounds = 0_u64;
    loop {
        let pause = {
            let Some(app) = app.upgrade() else { return };
            if let Err(error) = maintain(&app, rounds).await {
                tracing::error!(?error, "maintenance failed");
            }
            app.runs.lease / 3
        };
        rounds += 1;
        tokio::time::sleep(pause).await;
    }
}

async fn maintain(app: &Arc<App>, round: u64) -> ApiResult<()> {
    renew(app).await?;
    app.rows.expire_gone().await?;
    let reaped = app.rows.reap(ATTEMPTS).await?;
    for run in reaped.failed {
        fail_lost_run(app, &run).await?;
    }
    if round.is_multiple_of(20) {
        remove_old(app).await?;
    }
    Ok(())
}
