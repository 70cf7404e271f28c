//! What an agent writes to the relay.

use std::sync::Arc;
use std::time::Duration;

use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use langgraph_remote::Frame;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message;

use super::connect::{STEP_TIMEOUT, Socket};
use super::disconnect::Disconnect;
use super::state::ClientCore;
use crate::error::RelayError;
use crate::protocol::Control;

/// Writes what the agent sends, and pings.
pub(crate) async fn write(
    client: &Arc<ClientCore>,
    mut sink: SplitSink<Socket, Message>,
    last_read: watch::Receiver<Instant>,
) -> Disconnect {
    let every = client.options.heartbeat;
    let mut ping = Instant::now() + every;
    loop {
        let now = Instant::now();
        let (mut texts, due) = next_texts(client, now);
        if texts.is_empty() {
            if now >= ping {
                ping = now + every;
                if last_read.borrow().elapsed() > every.mul_f32(2.5) {
                    return Disconnect::Broken("the relay is silent".to_owned());
                }
                // A text, which the relay itself answers: a proxy may answer a ping of WebSocket.
                let text = Control::Ping { request_id: None }.text();
                match timeout(STEP_TIMEOUT, sink.send(Message::text(text))).await {
                    Ok(Ok(())) => {}
                    _ => return Disconnect::Broken("failed to write a ping".to_owned()),
                }
                continue;
            }
            let until = due.map_or(ping, |due| due.min(ping));
            tokio::select! {
                biased;
                () = client.wake.notified() => {}
                () = tokio::time::sleep_until(until) => {}
                () = client.closing.notified() => {
                    // A close frame lets the relay free the id at once.
                    let _ = timeout(Duration::from_secs(1), sink.close()).await;
                    return Disconnect::Refused(RelayError::Closed);
                }
            }
            continue;
        }
        for text in texts.drain(..) {
            match timeout(STEP_TIMEOUT, sink.send(Message::text(text))).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Disconnect::Broken(error.to_string()),
                Err(_) => return Disconnect::Broken("the relay does not read".to_owned()),
            }
        }
    }
}

/// Returns what to write now, and when the next request is due.
fn next_texts(client: &ClientCore, now: Instant) -> (Vec<String>, Option<Instant>) {
    let mut state = client.state();
    let mut texts: Vec<String> = state.notes.drain(..).collect();
    let mut next: Option<Instant> = None;
    for open in state.open.values_mut() {
        if open.due <= now {
            let mut frames = open.frames.clone();
            // The last one completes the request.
            if open.sent > 0
                && let Some(last) = frames.pop()
            {
                frames.push(last.numbered(open.next).of_run(open.run.clone()));
            }
            texts.extend(frames.iter().flat_map(Frame::to_json));
            open.sent += 1;
            open.due = now + open.backoff.pause();
        }
        next = Some(next.map_or(open.due, |next| next.min(open.due)));
    }
    while state.answers.has_ready() && texts.len() < 64 {
        texts.extend(state.answers.next_parts());
    }
    (texts, next)
}
