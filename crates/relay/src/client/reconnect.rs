//! Keeps an agent connected.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use langgraph_core::environment;
use tokio::sync::watch;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::connect::open;
use super::disconnect::Disconnect;
use super::incoming::read;
use super::outgoing::write;
use super::state::{ClientCore, LinkStatus};
use crate::error::RelayError;
use crate::turns::{Either, Turns};

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Connects, and connects again, until the client is dropped or refused.
pub(crate) async fn keep_connected(client: Arc<ClientCore>) {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    let error = loop {
        let began = Instant::now();
        match one_connection(&client).await {
            Disconnect::Refused(error) => break error,
            Disconnect::Broken(why) => {
                client.link.send_replace(LinkStatus::Connecting(why));
            }
        }
        if began.elapsed() > LONGEST_PAUSE {
            backoff.reset();
        }
        // Not all clients of a restarted relay come back at the same moment.
        let waited = backoff.pause().mul_f32(0.5 + fraction() / 2.0);
        tokio::select! {
            biased;
            () = tokio::time::sleep(waited) => {}
            () = client.closing.notified() => break RelayError::Closed,
        }
    };
    client.table.disconnected(&error.to_string());
    let mut state = client.state();
    state.open.clear();
    state.answers.cancel_all();
    drop(state);
    client.link.send_replace(LinkStatus::Over(error));
}

async fn one_connection(client: &Arc<ClientCore>) -> Disconnect {
    let socket = tokio::select! {
        biased;
        socket = open(client) => socket,
        () = client.closing.notified() => Err(Disconnect::Refused(RelayError::Closed)),
    };
    let socket = match socket {
        Ok(socket) => socket,
        Err(ended) => return ended,
    };
    let now = Instant::now();
    for open in client.state().open.values_mut() {
        open.due = now;
        open.backoff.reset();
    }
    client.link.send_replace(LinkStatus::Connected);
    let (sink, stream) = socket.split();
    let last_read = watch::Sender::new(now);
    let reads = read(client, stream, &last_read);
    let writes = write(client, sink, last_read.subscribe());
    // Both at once, so that a relay that waits for this client is still read.
    match Turns::default().either(reads, writes).await {
        Either::One(ended) | Either::Other(ended) => ended,
    }
}

/// Returns a random number from 0 to 1.
fn fraction() -> f32 {
    let seed = environment::random().unwrap_or_else(|| fastrand::u64(..));
    fastrand::Rng::with_seed(seed).f32()
}
