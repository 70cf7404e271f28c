//! Webhooks are sent until they arrive.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;

use super::POLL_INTERVAL;
use crate::app::App;
use crate::queue::{Outbox, Outgoing};

/// How many are sent at a time.
const AT_A_TIME: usize = 16;

/// How long one may take. Then another process may send it.
const TIME: Duration = Duration::from_secs(60);

/// The longest time between two attempts.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Sends what is due, until the process ends.
pub(super) async fn delivery_loop(app: Weak<App>) {
    let Some(deliveries) = app.upgrade().map(|app| Arc::clone(&app.runs.deliveries)) else {
        return;
    };
    loop {
        let more = {
            let Some(app) = app.upgrade() else { return };
            if app.runs.is_draining() {
                return;
            }
            send_due(&app).await
        };
        if !more {
            let _ = tokio::time::timeout(POLL_INTERVAL, deliveries.notified()).await;
        }
    }
}

/// Sends some. Returns true if there may be more.
async fn send_due(app: &App) -> bool {
    if !app.webhooks.are_sent() {
        return false;
    }
    let due = app.rows.take_due(AT_A_TIME, TIME * 2).await;
    let due = due.unwrap_or_else(|error| {
        tracing::error!(%error, "failed to list due webhooks");
        Vec::new()
    });
    let more = due.len() == AT_A_TIME;
    let sending = stream::iter(due).map(|outgoing| send(app, outgoing));
    sending
        .buffer_unordered(AT_A_TIME)
        .collect::<Vec<()>>()
        .await;
    more
}

async fn send(app: &App, outgoing: Outgoing) {
    let sent = tokio::time::timeout(TIME, app.webhooks.send(&outgoing)).await;
    let failed = match sent {
        Ok(Ok(())) => {
            if let Err(error) = app.rows.remove(&outgoing.id).await {
                tracing::error!(%error, run = outgoing.run, "a webhook is sent again");
            }
            return;
        }
        Ok(Err(error)) => error,
        Err(_) => format!("no answer within {TIME:?}"),
    };
    tracing::warn!(error = failed, run = outgoing.run, "a webhook failed");
    // 1 s, 4 s, 16 s, … one hour.
    let doublings = u32::try_from(outgoing.attempt.clamp(1, 8) - 1).unwrap_or_default();
    let pause = Duration::from_secs(1) * 4_u32.pow(doublings);
    if let Err(error) = app.rows.postpone(&outgoing.id, pause.min(LONGEST)).await {
        tracing::error!(%error, run = outgoing.run, "failed to postpone a webhook");
    }
}
