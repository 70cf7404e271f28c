//! What an agent reads from the relay.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use langgraph_remote::{AgentEnvelope, Frame, FrameKind, RemoteError};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::connect::Socket;
use super::disconnect::Disconnect;
use super::pieces::{Assembled, PieceAssembler};
use super::requests::request_arrived;
use super::state::ClientCore;
use crate::error::RelayError;
use crate::protocol::{Control, Incoming, parse};

/// Reads and handles what the relay sends.
pub(crate) async fn read(
    client: &Arc<ClientCore>,
    mut stream: SplitStream<Socket>,
    last_read: &watch::Sender<Instant>,
) -> Disconnect {
    loop {
        match stream.next().await {
            Some(Ok(Message::Text(text))) => {
                last_read.send_replace(Instant::now());
                match parse(&text) {
                    Ok(Incoming::Frame(frame)) => frame_arrived(client, *frame),
                    Ok(Incoming::Control(Control::Error { code, message, .. }))
                        if code == "replaced" =>
                    {
                        return Disconnect::Refused(RelayError::Refused { code, message });
                    }
                    Ok(Incoming::Control(control)) => control_arrived(client, control),
                    // A newer relay may send frames that this version does not know.
                    Err(_) => {}
                }
            }
            Some(Ok(Message::Close(_))) | None => {
                return Disconnect::Broken("the relay closed the connection".to_owned());
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Disconnect::Broken(error.to_string()),
        }
    }
}

fn control_arrived(client: &ClientCore, control: Control) {
    match control {
        Control::Agents {
            agents,
            next,
            request_id: Some(id),
        } => {
            if let Some(list) = client.state().lists.remove(&id) {
                let _ = list.send((agents, next));
            }
        }
        Control::Presence { id, online } => {
            let now = Instant::now();
            let mut state = client.state();
            if !online {
                state.answers.cancel_all_of(&id);
            }
            // If the agent is gone, the relay refuses the request; if it is back, it answers from what it has.
            for open in state.open.values_mut() {
                if open.agent == id {
                    open.due = now;
                    open.backoff.reset();
                }
            }
            drop(state);
            client.wake.notify_one();
        }
        Control::Error {
            code,
            message,
            request_id: Some(id),
        } => {
            let mut state = client.state();
            // The request arrived before; only its repetition found no room.
            if code == "overloaded" && state.open.get(&id).is_some_and(|open| open.sent > 1) {
                return;
            }
            if state.open.remove(&id).is_some() {
                drop(state);
                let code = code.into();
                client
                    .table
                    .fail(&id, RemoteError::Refused { code, message });
            }
        }
        _ => {}
    }
}

fn frame_arrived(client: &Arc<ClientCore>, frame: Frame) {
    let (kind, seq, run) = (frame.kind, frame.seq, frame.run.clone());
    let Ok(envelope) = frame.into_envelope(&client.options.id) else {
        return;
    };
    match kind {
        FrameKind::Reply => reply_arrived(client, envelope, seq, run),
        FrameKind::Message => request_arrived(client, envelope, seq.unwrap_or(0), run.as_deref()),
        FrameKind::Send => {}
    }
}

fn reply_arrived(
    client: &ClientCore,
    envelope: AgentEnvelope,
    seq: Option<u64>,
    run: Option<String>,
) {
    let Some(id) = envelope.request_id.clone() else {
        return;
    };
    let assembled = {
        let mut state = client.state();
        let Some(open) = state.open.get_mut(&id) else {
            return;
        };
        // The parts of another agent must not move the count.
        if open.agent != envelope.from {
            return;
        }
        if let Some(seq) = seq {
            if open.next > 0 && run != open.run {
                // The agent has restarted. A request for the old run is answered with `lost`.
                open.due = open.due.min(Instant::now() + Duration::from_millis(50));
                drop(state);
                client.wake.notify_one();
                return;
            }
            if seq < open.next {
                return;
            }
            if seq > open.next {
                // Parts are missing: ask for them, but once for the whole gap.
                open.due = open.due.min(Instant::now() + Duration::from_millis(50));
                return;
            }
            open.next += 1;
            open.run = run;
        }
        open.backoff.reset();
        open.due = Instant::now() + open.backoff.pause();
        let most = client.options.max_message;
        PieceAssembler::push(&mut open.pieces, envelope, false, most)
    };
    let envelope = match assembled {
        Assembled::Other(envelope) | Assembled::Whole(envelope) => *envelope,
        Assembled::Incomplete => return,
        Assembled::Failed(message) => {
            client.state().open.remove(&id);
            let code = "too_large".into();
            let error = RemoteError::Refused { code, message };
            return client.table.fail(&id, error);
        }
    };
    let delivered = client.table.deliver(envelope);
    if delivered.is_err() || !client.table.is_open(&id) {
        client.state().open.remove(&id);
    }
}
