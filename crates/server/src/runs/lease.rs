//! A process keeps its claims, and finds the runs of lost processes.

use std::sync::{Arc, Weak};

use super::failure::fail_lost_run;
use super::retention::remove_old;
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::RunQueue;
use langgraph::environment;

/// How often a run is attempted whose process is lost.
const ATTEMPTS: i64 = 3;

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
    *app.runs.renewed() = environment::steady();
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
    let (worker, lease) = (&app.runs.worker, app.runs.lease);
    let reaped = app.rows.reap(ATTEMPTS, worker, lease).await?;
    for claim in reaped.failed {
        fail_lost_run(app, claim).await?;
    }
    if round.is_multiple_of(20) {
        app.rows.place_forgotten().await?;
        remove_old(app).await?;
    }
    Ok(())
}
