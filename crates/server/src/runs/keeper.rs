//! Leases are renewed by a thread of their own: nodes that compute may hold all others.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::app::App;
use crate::rows::Renewer;
use langgraph::environment;

/// Starts the thread. It ends with the app. Rows in memory belong to one process, which needs none.
pub(super) fn start(app: &Arc<App>) {
    // A simulation has one thread.
    if environment::process() != 0 {
        return;
    }
    let Some(renewer) = app.rows.renewer() else {
        return;
    };
    let (app, lease) = (Arc::downgrade(app), app.runs.lease);
    let started = std::thread::Builder::new()
        .name("langgraph-leases".to_owned())
        .spawn(move || keep(&app, renewer, lease));
    if let Err(error) = started {
        tracing::error!(%error, "leases are renewed only while nodes leave a thread free");
    }
}

fn keep(app: &Weak<App>, mut renewer: Renewer, lease: Duration) {
    loop {
        std::thread::sleep(lease / 6);
        let Some(app) = app.upgrade() else { return };
        // The runtime does so every third of the time, unless nodes hold it.
        if app.runs.renewed().elapsed() < lease / 2 {
            continue;
        }
        let runs: Vec<_> = app
            .runs
            .live
            .all()
            .into_iter()
            .filter(|live| !live.is_revoked())
            .map(|live| live.claim.run.clone())
            .collect();
        if runs.is_empty() {
            continue;
        }
        if let Err(error) = renewer.renew(&app.runs.worker, lease, &runs) {
            tracing::warn!(%error, "failed to renew the leases of runs");
            continue;
        }
        *app.runs.renewed() = Instant::now();
    }
}
