//! A process claims runs.

use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;

use super::POLL_INTERVAL;
use super::execute::execute;
use crate::app::App;
use crate::queue::{After, Claim, RunQueue, Signal};

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

/// That this process can carry out one more run, and which.
pub(super) struct Vacancy {
    slot: OwnedSemaphorePermit,
    /// Owners that have as many running runs as they may.
    full: Vec<String>,
}

impl Vacancy {
    pub(super) fn of(app: &App) -> Option<Self> {
        // Before the look at the drain, which waits for all slots.
        let slot = app.runs.slot()?;
        if app.runs.is_draining() {
            return None;
        }
        let most = app.limits.runs_of_owner(app.authenticate.is_some());
        Some(Self {
            slot,
            full: most.map_or_else(Vec::new, |most| app.runs.owners.full(most)),
        })
    }

    /// Returns true if the owner may have one more running run.
    pub(super) fn admits(&self, owner: &str) -> bool {
        !self.full.iter().any(|full| full == owner)
    }

    /// Carries out a run that was claimed.
    pub(super) fn carry_out(self, app: &Arc<App>, claim: Claim) {
        app.runs.set_last_owner(&claim.owner);
        let counted = app.runs.owners.count(&claim.owner);
        let (app, claim) = (Arc::clone(app), Box::new(claim));
        tokio::spawn(async move {
            execute(&app, claim).await;
            drop((self.slot, counted));
            app.rows.wake();
        });
    }
}

async fn claim_all(app: &Arc<App>) {
    let runs = &app.runs;
    while let Some(vacancy) = Vacancy::of(app) {
        let last = runs.last_owner();
        let after = After {
            owner: &last,
            full: &vacancy.full,
        };
        match app.rows.claim(&runs.worker, runs.lease, after).await {
            Ok(Some(claim)) => vacancy.carry_out(app, claim),
            Ok(None) => return,
            Err(error) => {
                tracing::error!(%error, "failed to claim a run");
                return;
            }
        }
    }
}
