//! The task that keeps an agent connected.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use langgraph_remote::{
    AgentEnvelope, EnvelopeBody, ErrorCode, Frame, FrameKind, RemoteError, ReplyEnding, Transport,
};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::answers::{Begin, Key};
use crate::client_state::{Client, Link};
use crate::error::RelayError;
use crate::pieces::{Joined, Joining};
use crate::protocol::{Control, Incoming, Session, parse};
use crate::wire::Wire;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_REPEAT: Duration = Duration::from_secs(30);
/// How many requests come in pieces at a time: the one that has waited longest makes room.
const JOINING: usize = 16;
const ONE_STEP: Duration = Duration::from_secs(10);

type Socket = WebSocketStream<Box<dyn Wire>>;

/// Why a connection ended.
enum Ended {
    Broken(String),
    Refused(RelayError),
}

/// Connects, and connects again, until the client is dropped or refused.
pub(crate) async fn keep(client: Arc<Client>) {
    let mut pause = FIRST_PAUSE;
    let error = loop {
        let began = Instant::now();
        match one_connection(&client).await {
            Ended::Refused(error) => break error,
            Ended::Broken(why) => {
                client.link.send_replace(Link::Connecting(why));
            }
        }
        if began.elapsed() > LONGEST_PAUSE {
            pause = FIRST_PAUSE;
        }
        // Not all clients of a restarted relay come back at the same moment.
        let waited = pause.mul_f32(0.5 + fastrand::f32() / 2.0);
        tokio::select! {
            () = tokio::time::sleep(waited) => {}
            () = client.closing.notified() => break RelayError::Closed,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    };
    client.table.disconnected(&error.to_string());
    let mut state = client.state();
    state.open.clear();
    state.answers.cancel_all();
    drop(state);
    client.link.send_replace(Link::Over(error));
}

async fn one_connection(client: &Arc<Client>) -> Ended {
    let socket = tokio::select! {
        socket = open(client) => socket,
        () = client.closing.notified() => Err(Ended::Refused(RelayError::Closed)),
    };
    let socket = match socket {
        Ok(socket) => socket,
        Err(ended) => return ended,
    };
    let now = Instant::now();
    for open in client.state().open.values_mut() {
        open.due = now;
        open.pause = client.options.repeat_after;
    }
    client.link.send_replace(Link::Connected);
    let (sink, stream) = socket.split();
    let heard = watch::Sender::new(now);
    // Both halves, so that a relay that waits for us is still read.
    tokio::select! {
        ended = read(client, stream, &heard) => ended,
        ended = write(client, sink, heard.subscribe()) => ended,
    }
}

/// Connects and registers.
async fn open(client: &Arc<Client>) -> Result<Socket, Ended> {
    let options = &client.options;
    let config = WebSocketConfig::default()
        .max_message_size(Some(options.max_frame.saturating_mul(2)))
        .max_frame_size(Some(options.max_frame.saturating_mul(2)));
    let connect = async {
        let wire = wire(client).await?;
        let url = options.url.as_str();
        let open = tokio_tungstenite::client_async_with_config(url, wire, Some(config));
        match open.await {
            Ok((socket, _)) => Ok(socket),
            Err(error) => Err(Ended::Broken(error.to_string())),
        }
    };
    let mut socket = match timeout(ONE_STEP, connect).await {
        Ok(socket) => socket?,
        Err(_) => return Err(Ended::Broken("no connection in time".to_owned())),
    };
    match timeout(ONE_STEP, register(client, &mut socket)).await {
        Ok(registered) => registered.map(|()| socket),
        Err(_) => Err(Ended::Broken("no registration in time".to_owned())),
    }
}

/// Reaches the relay's host, encrypted if the URL says `wss`.
async fn wire(client: &Arc<Client>) -> Result<Box<dyn Wire>, Ended> {
    let unusable = |why: String| Ended::Refused(RelayError::Unreachable(why));
    let url = client.options.url.as_str();
    let request = url
        .into_client_request()
        .map_err(|error| unusable(format!("`{url}`: {error}")))?;
    let uri = request.uri();
    let secure = match uri.scheme_str() {
        Some("ws") => false,
        Some("wss") => true,
        _ => return Err(unusable(format!("`{url}`: expected `ws://` or `wss://`"))),
    };
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let broken = |error: std::io::Error| Ended::Broken(error.to_string());
    let wire = client.options.dial.dial(host, port).await.map_err(broken)?;
    if !secure {
        return Ok(wire);
    }
    #[cfg(feature = "rustls")]
    {
        let connector = crate::tls::connector(&client.options.roots);
        let connector = connector.map_err(|error| unusable(error.to_string()))?;
        crate::tls::encrypt(&connector, host, wire)
            .await
            .map_err(broken)
    }
    #[cfg(not(feature = "rustls"))]
    Err(unusable(format!("`{url}` needs the feature `rustls`")))
}

async fn register(client: &Arc<Client>, socket: &mut Socket) -> Result<(), Ended> {
    let register = Control::Register {
        id: client.options.id.clone(),
        name: client.options.name.clone(),
        token: Some(client.options.token.clone()),
        session: Some(Session {
            client: client.session.clone(),
            connection: client.connections.fetch_add(1, Ordering::Relaxed),
        }),
        request_id: None,
    };
    let broken = |why: String| Ended::Broken(why);
    socket
        .send(Message::text(register.text()))
        .await
        .map_err(|error| broken(error.to_string()))?;
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => match parse(&text) {
                Ok(Incoming::Control(Control::Registered { .. })) => return Ok(()),
                Ok(Incoming::Control(Control::Error { code, message, .. })) => {
                    if code == "overloaded" {
                        return Err(broken(message));
                    }
                    return Err(Ended::Refused(RelayError::Refused { code, message }));
                }
                _ => {}
            },
            Some(Ok(Message::Close(_))) | None => {
                return Err(broken("the relay closed the connection".to_owned()));
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(broken(error.to_string())),
        }
    }
}

async fn read(
    client: &Arc<Client>,
    mut stream: SplitStream<Socket>,
    heard: &watch::Sender<Instant>,
) -> Ended {
    loop {
        match stream.next().await {
            Some(Ok(Message::Text(text))) => {
                heard.send_replace(Instant::now());
                match parse(&text) {
                    Ok(Incoming::Frame(frame)) => frame_arrived(client, *frame),
                    Ok(Incoming::Control(Control::Error { code, message, .. }))
                        if code == "replaced" =>
                    {
                        return Ended::Refused(RelayError::Refused { code, message });
                    }
                    Ok(Incoming::Control(control)) => control_arrived(client, control),
                    // A newer relay may send frames that this version does not know.
                    Err(_) => {}
                }
            }
            Some(Ok(Message::Close(_))) | None => {
                return Ended::Broken("the relay closed the connection".to_owned());
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Ended::Broken(error.to_string()),
        }
    }
}

fn control_arrived(client: &Client, control: Control) {
    match control {
        Control::Agents {
            agents,
            request_id: Some(id),
        } => {
            if let Some(list) = client.state().lists.remove(&id) {
                let _ = list.send(agents);
            }
        }
        Control::Presence { id, online } => {
            let now = Instant::now();
            let mut state = client.state();
            if !online {
                state.answers.cancel_all_of(&id);
            }
            // If the agent is gone, the relay says so; if it is back, it answers from what it has.
            for open in state.open.values_mut() {
                if open.agent == id {
                    open.due = now;
                    open.pause = client.options.repeat_after;
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

fn frame_arrived(client: &Arc<Client>, frame: Frame) {
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

fn reply_arrived(client: &Client, envelope: AgentEnvelope, seq: Option<u64>, run: Option<String>) {
    let Some(id) = envelope.request_id.clone() else {
        return;
    };
    let joined = {
        let mut state = client.state();
        let Some(open) = state.open.get_mut(&id) else {
            return;
        };
        // A stranger's parts must not move the count.
        if open.agent != envelope.from {
            return;
        }
        if let Some(seq) = seq {
            if open.next > 0 && run != open.run {
                // The agent has started anew. It is asked by the old run, and says that this is lost.
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
        open.pause = client.options.repeat_after;
        open.due = Instant::now() + open.pause;
        let most = client.options.max_message;
        Joining::push(&mut open.joining, envelope, false, most)
    };
    let envelope = match joined {
        Joined::Other(envelope) | Joined::Whole(envelope) => *envelope,
        Joined::Waits => return,
        Joined::Failed(message) => {
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

fn request_arrived(
    client: &Arc<Client>,
    request: AgentEnvelope,
    from_part: u64,
    run: Option<&str>,
) {
    let Some(id) = request.request_id.clone() else {
        // Nobody waits for a reply.
        if matches!(request.body, EnvelopeBody::Complete(_)) {
            let network = client.network.clone();
            tokio::spawn(async move {
                if let Ok(mut reply) = network.request(request).await {
                    while let Some(Ok(_)) = reply.next().await {}
                }
            });
        }
        return;
    };
    let key: Key = (request.from.clone(), id);
    let refuse = |code: ErrorCode, message: String| {
        let body = EnvelopeBody::error(code, message);
        if let Ok(text) = Frame::reply(request.reply(body)).to_json() {
            client.note(text);
        }
    };
    match &request.body {
        EnvelopeBody::Cancel => return client.state().answers.cancel(&key),
        EnvelopeBody::Complete(_) | EnvelopeBody::Resume(_) => {}
        EnvelopeBody::StreamStart { .. }
        | EnvelopeBody::StreamChunk { .. }
        | EnvelopeBody::StreamEnd { .. } => {
            return match join_request(client, &key, request.clone()) {
                Joined::Whole(whole) => request_arrived(client, *whole, from_part, run),
                Joined::Failed(why) => refuse(ErrorCode::BadRequest, why),
                // Without its start, a piece is of no use; the requester repeats all of them.
                Joined::Waits | Joined::Other(_) => {}
            };
        }
        _ => return,
    }
    let begin = client.state().answers.begin(&key, from_part, run);
    match begin {
        Begin::Repeated => client.wake.notify_one(),
        Begin::Refused(code, message) => refuse(code, message.to_owned()),
        Begin::Run => {
            let work = tokio::spawn(answer(Arc::clone(client), key.clone(), request));
            client.state().answers.working(&key, work.abort_handle());
        }
    }
}

/// Joins the pieces of a request.
fn join_request(client: &Client, key: &Key, piece: AgentEnvelope) -> Joined {
    let most = client.options.max_message;
    let mut state = client.state();
    let place = state.joining.iter().position(|(known, _)| known == key);
    let mut joining = place.and_then(|place| state.joining.remove(place)?.1);
    let joined = Joining::push(&mut joining, piece, true, most);
    if joining.is_some() {
        if state.joining.len() >= JOINING {
            state.joining.pop_front();
        }
        state.joining.push_back((key.clone(), joining));
    }
    joined
}

/// Ends a reply, however its work ends.
struct Finish {
    client: Arc<Client>,
    key: Key,
    request: AgentEnvelope,
    complete: bool,
}

impl Finish {
    fn add(&self, envelope: AgentEnvelope) {
        self.client.state().answers.add(&self.key, envelope);
        self.client.wake.notify_one();
    }

    fn fail(&self, error: &RemoteError) {
        let code = match error {
            RemoteError::TimedOut(_) => ErrorCode::TimedOut,
            RemoteError::UnknownAgent { .. } => ErrorCode::UnknownAgent,
            _ => ErrorCode::Failed,
        };
        let body = EnvelopeBody::error(code, error.to_string());
        self.add(self.request.reply(body));
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        if !self.complete {
            let body = EnvelopeBody::error(ErrorCode::Cancelled, "the agent stopped the work");
            self.add(self.request.reply(body));
        }
        self.client.state().answers.finish(&self.key);
    }
}

async fn answer(client: Arc<Client>, key: Key, request: AgentEnvelope) {
    let mut finish = Finish {
        client: Arc::clone(&client),
        key,
        request: request.clone(),
        complete: false,
    };
    match client.network.request(request).await {
        Err(error) => finish.fail(&error),
        Ok(mut reply) => {
            let mut ending = ReplyEnding::default();
            let mut over = false;
            while let Some(part) = reply.next().await {
                match part {
                    Ok(part) => {
                        over = ending.see(&part.body);
                        finish.add(part);
                    }
                    Err(error) => {
                        over = true;
                        finish.fail(&error);
                    }
                }
            }
            // The requester waits for the end.
            if !over {
                finish.fail(&RemoteError::NoReply);
            }
        }
    }
    finish.complete = true;
}

async fn write(
    client: &Arc<Client>,
    mut sink: SplitSink<Socket, Message>,
    heard: watch::Receiver<Instant>,
) -> Ended {
    let every = client.options.heartbeat;
    let mut ping = Instant::now() + every;
    loop {
        let now = Instant::now();
        let (mut texts, due) = next_texts(client, now);
        if texts.is_empty() {
            if now >= ping {
                ping = now + every;
                if heard.borrow().elapsed() > every.mul_f32(2.5) {
                    return Ended::Broken("the relay is silent".to_owned());
                }
                // A text, which the relay itself answers: a proxy may answer a ping of WebSocket.
                let text = Control::Ping { request_id: None }.text();
                match timeout(ONE_STEP, sink.send(Message::text(text))).await {
                    Ok(Ok(())) => {}
                    _ => return Ended::Broken("a ping cannot be written".to_owned()),
                }
                continue;
            }
            let until = due.map_or(ping, |due| due.min(ping));
            tokio::select! {
                () = client.wake.notified() => {}
                () = tokio::time::sleep_until(until) => {}
                () = client.closing.notified() => {
                    // With a goodbye the relay frees the id at once.
                    let _ = timeout(Duration::from_secs(1), sink.close()).await;
                    return Ended::Refused(RelayError::Closed);
                }
            }
            continue;
        }
        for text in texts.drain(..) {
            match timeout(ONE_STEP, sink.send(Message::text(text))).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Ended::Broken(error.to_string()),
                Err(_) => return Ended::Broken("the relay does not read".to_owned()),
            }
        }
    }
}

/// Returns what to write now, and when the next request is due.
fn next_texts(client: &Client, now: Instant) -> (Vec<String>, Option<Instant>) {
    let mut state = client.state();
    let mut texts: Vec<String> = state.notes.drain(..).collect();
    let mut next: Option<Instant> = None;
    for open in state.open.values_mut() {
        if open.due <= now {
            let mut frames = open.frames.clone();
            // The last one makes it whole.
            if open.sent > 0
                && let Some(last) = frames.pop()
            {
                frames.push(last.numbered(open.next).of_run(open.run.clone()));
            }
            texts.extend(frames.iter().flat_map(Frame::to_json));
            open.sent += 1;
            open.due = now + open.pause;
            open.pause = (open.pause * 2).min(LONGEST_REPEAT);
        }
        next = Some(next.map_or(open.due, |next| next.min(open.due)));
    }
    while state.answers.has_ready() && texts.len() < 64 {
        texts.extend(state.answers.next_parts());
    }
    (texts, next)
}
