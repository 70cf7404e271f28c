//! A process claims runs.

use std::sync::{Arc, Weak};

use futures_util::FutureExt;

use super::POLL_INTERVAL;
use super::session::execute;
use crate::app::App;
use crate::queue::{After, RunQueue, Signal};

/// Claims runs whenever there may be one.
pub(super) async fn claim_loop(app: Weak<App>) {
    let Some(mut signals) = app.upgrade().map(|app| app.rows.signals()) else {
        return;
    };
    loop {
        // All signals so far are one reason to look.
        while let Some(Some(_)) = signals.next().now_or_never() {}
        {
            let Some(app) = app.upgrade() else { return };
            if app.runs.is_draining() {
                return;
            }
            claim_all(&app).await;
        }
        let sleep = tokio::time::sleep(POLL_INTERVAL);
        tokio::pin!(sleep);
        loop {
            tokio::select! {
                biased;
                () = &mut sleep => break,
                signal = signals.next() => match signal {
                    Some(Signal::Queued | Signal::Ended { .. } | Signal::Lost) => break,
                    Some(_) => {}
                    None => return,
                },
            }
        }
    }
}

async fn claim_all(app: &Arc<App>) {
    let runs = &app.runs;
    let most = app.limits.runs_of_owner(app.authenticate.is_some());
    loop {
        // Before the look at the drain, which waits for all slots.
        let Some(slot) = runs.slot() else {
            return;
        };
        if runs.is_draining() {
            return;
        }
        let full = most.map_or_else(Vec::new, |most| runs.owners.full(most));
        let last = runs.last_owner();
        let after = After {
            owner: &last,
            full: &full,
        };
        match app.rows.claim(&runs.worker, runs.lease, after).await {
            Ok(Some(claim)) => {
                runs.set_last_owner(&claim.owner);
                let counted = runs.owners.count(&claim.owner);
                let app = Arc::clone(app);
                tokio::spawn(async move {
                    execute(&app, claim).await;
                    drop((slot, counted));
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
