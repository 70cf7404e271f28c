//! One connection of a relay.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::{SinkExt, StreamExt};
use langgraph_remote::{AgentId, EnvelopeBody, Frame, FrameKind};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::{
    Callback, ErrorResponse, Request, Response,
};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as WebSocketError, Message};

use super::metrics::Counters;
use super::options::RelayOptions;
use super::queue::Full;
use super::registry::{Profile, Registration};
use super::state::RelayState;
use crate::protocol::{Control, Incoming, parse};
use crate::turns::{Either, Turns};
use crate::wire::Accepted;
use crate::wire::Wire;

/// The number of invalid frames after which the connection is closed.
const MISTAKES: usize = 16;

/// A connection. It reads and writes in turns: a client that does not read is not read from.
pub(crate) struct Connection {
    state: Arc<RelayState>,
    number: u64,
    mistakes: usize,
}

type Socket = WebSocketStream<Box<dyn Wire>>;

/// The end of a connection.
struct ConnectionEnd {
    /// True if the client closed it.
    is_closed: bool,
}

const BROKEN: ConnectionEnd = ConnectionEnd { is_closed: false };

/// Counts the connection, however it ends.
struct ConnectionCount(Arc<RelayState>);

impl Drop for ConnectionCount {
    fn drop(&mut self) {
        let connections = &self.0.counters.connections;
        connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Refuses the web pages that may not connect. Only browsers send an `Origin`.
struct Origins<'a>(&'a RelayOptions);

impl Callback for Origins<'_> {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let origin = request.headers().get("origin");
        let allowed = match origin.map(|origin| origin.to_str()) {
            None => true,
            Some(Ok(origin)) => self.0.origins.iter().any(|allowed| allowed == origin),
            Some(Err(_)) => false,
        };
        if allowed {
            return Ok(response);
        }
        let mut refused = ErrorResponse::new(Some("this origin may not connect".to_owned()));
        *refused.status_mut() = StatusCode::FORBIDDEN;
        Err(refused)
    }
}

impl Connection {
    pub(crate) fn new(state: Arc<RelayState>, number: u64) -> Self {
        Self {
            state,
            number,
            mistakes: 0,
        }
    }

    pub(crate) async fn run(mut self, accepted: Accepted) {
        Counters::add(&self.state.counters.connections, 1);
        let _count = ConnectionCount(Arc::clone(&self.state));
        let state = Arc::clone(&self.state);
        let options = &state.options;
        let config = WebSocketConfig::default()
            .max_message_size(Some(options.max_frame))
            .max_frame_size(Some(options.max_frame))
            .read_buffer_size(8 * 1024)
            .write_buffer_size(0);
        let accept = async {
            let wire = accepted.await.ok()?;
            let origins = Origins(options);
            let accept =
                tokio_tungstenite::accept_hdr_async_with_config(wire, origins, Some(config));
            accept.await.ok()
        };
        let Ok(Some(mut socket)) = timeout(options.register_within, accept).await else {
            Counters::add(&self.state.counters.refused, 1);
            return;
        };
        let limit = options.register_within;
        let registered = timeout(limit, self.registration(&mut socket)).await;
        let Ok(Ok((id, registration))) = registered else {
            Counters::add(&self.state.counters.refused, 1);
            let _ = timeout(self.state.options.write_within, socket.close(None)).await;
            return;
        };
        let end = self.serve(&mut socket, &id, &registration).await;
        self.state.registry().left(self.number, &id, end.is_closed);
        if !end.is_closed {
            let _ = timeout(self.state.options.write_within, socket.close(None)).await;
        }
    }

    /// Waits until the client registers.
    async fn registration(
        &mut self,
        socket: &mut Socket,
    ) -> Result<(AgentId, Registration), ConnectionEnd> {
        loop {
            let text = match socket.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                _ => return Err(BROKEN),
            };
            match parse(&text) {
                Ok(Incoming::Control(Control::Register {
                    id,
                    name,
                    endpoint,
                    token,
                    session,
                    request_id,
                })) => {
                    let agent = (&id, Profile { name, endpoint }, token);
                    let options = &self.state.options;
                    let registered = {
                        let mut registry = self.state.registry();
                        registry.register(self.number, agent, session, options)
                    };
                    match registered {
                        Ok(registration) => {
                            let registered = Control::Registered {
                                id: id.clone(),
                                request_id,
                            };
                            if self.write(socket, registered.text()).await.is_err() {
                                self.state.registry().left(self.number, &id, false);
                                return Err(BROKEN);
                            }
                            return Ok((id, registration));
                        }
                        Err((code, message)) => {
                            let error = Control::error(code, message, request_id);
                            let _ = self.write(socket, error.text()).await;
                            return Err(BROKEN);
                        }
                    }
                }
                Ok(_) => {
                    let error = Control::error("not_registered", "register first", None);
                    self.mistake(socket, error).await?;
                }
                Err(message) => {
                    let error = Control::error("bad_request", message, None);
                    self.mistake(socket, error).await?;
                }
            }
        }
    }

    async fn serve(
        &mut self,
        socket: &mut Socket,
        id: &AgentId,
        registration: &Registration,
    ) -> ConnectionEnd {
        let every = self.state.options.heartbeat;
        let mut heartbeat = tokio::time::interval(every);
        let mut last_read = Instant::now();
        let mut turns = Turns::default();
        loop {
            let done = tokio::select! {
                biased;
                () = registration.replaced.notified() => {
                    let error = Control::error("replaced", "the agent has a new connection", None);
                    let _ = self.write(socket, error.text()).await;
                    Err(BROKEN)
                }
                _ = heartbeat.tick() => {
                    if last_read.elapsed() > every.mul_f32(2.5) {
                        Err(BROKEN)
                    } else {
                        self.send(socket, Message::Ping(Vec::new().into())).await
                    }
                }
                next = turns.either(socket.next(), registration.queue.pop()) => match next {
                    Either::One(incoming) => {
                        last_read = Instant::now();
                        self.read(socket, id, incoming).await
                    }
                    Either::Other(text) => self.write(socket, text).await,
                },
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    /// Handles what a registered agent has sent.
    async fn read(
        &mut self,
        socket: &mut Socket,
        id: &AgentId,
        incoming: Option<Result<Message, WebSocketError>>,
    ) -> Result<(), ConnectionEnd> {
        match incoming {
            Some(Ok(Message::Text(text))) => self.text(socket, id, &text).await,
            Some(Ok(Message::Close(_))) => Err(ConnectionEnd { is_closed: true }),
            Some(Ok(Message::Binary(_))) => {
                let error = Control::error("bad_request", "frames are text", None);
                self.mistake(socket, error).await
            }
            Some(Ok(_)) => Ok(()),
            Some(Err(_)) | None => Err(BROKEN),
        }
    }

    /// Handles a text of a registered agent.
    async fn text(
        &mut self,
        socket: &mut Socket,
        id: &AgentId,
        text: &str,
    ) -> Result<(), ConnectionEnd> {
        match parse(text) {
            Ok(Incoming::Frame(frame)) => self.forward(socket, id, *frame).await,
            Ok(Incoming::Control(Control::List { after, request_id })) => {
                let bytes = self.state.options.max_frame / 2;
                let (agents, next) = self.state.registry().list(after.as_ref(), bytes);
                let answer = Control::Agents {
                    agents,
                    next,
                    request_id,
                };
                self.write(socket, answer.text()).await
            }
            Ok(Incoming::Control(Control::Ping { request_id })) => {
                self.write(socket, Control::Pong { request_id }.text())
                    .await
            }
            Ok(Incoming::Control(Control::Register {
                id: other,
                name,
                endpoint,
                request_id,
                ..
            })) if other == *id => {
                let updated = self.state.registry().update(id, Profile { name, endpoint });
                let answer = match updated {
                    Ok(()) => Control::Registered {
                        id: id.clone(),
                        request_id,
                    },
                    Err((code, message)) => Control::error(code, message, request_id),
                };
                self.write(socket, answer.text()).await
            }
            Ok(Incoming::Control(Control::Register { request_id, .. })) => {
                let message = format!("this connection is `{id}`; open another one");
                let error = Control::error("already_registered", message, request_id);
                self.mistake(socket, error).await
            }
            Ok(Incoming::Control(_)) => {
                let error = Control::error("bad_request", "unexpected frame from a client", None);
                self.mistake(socket, error).await
            }
            Err(message) => {
                let error = Control::error("bad_request", message, None);
                self.mistake(socket, error).await
            }
        }
    }

    async fn forward(
        &mut self,
        socket: &mut Socket,
        from: &AgentId,
        frame: Frame,
    ) -> Result<(), ConnectionEnd> {
        let request_id = frame.request_id.clone();
        // A requester that misses a numbered part of a reply repeats its request. For other frames, the sender
        // gets the error.
        let reports_errors = match frame.kind {
            FrameKind::Reply => frame.seq.is_none(),
            _ => frame.body != EnvelopeBody::Cancel,
        };
        let passed = frame.relayed(from);
        let passed = passed.and_then(|(to, frame)| Ok((to, frame.to_json()?)));
        let (to, text) = match passed {
            Ok(passed) => passed,
            Err(error) => {
                let error = Control::error("bad_request", error.to_string(), request_id);
                return self.mistake(socket, error).await;
            }
        };
        let counters = &self.state.counters;
        let queue = self.state.registry().route(from, &to);
        let bytes = text.len();
        let (code, message) = match queue.map(|queue| queue.push(from, text)) {
            Some(Ok(())) => {
                Counters::add(&counters.frames, 1);
                Counters::add(&counters.bytes, bytes);
                return Ok(());
            }
            Some(Err(Full)) => ("overloaded", format!("the queue of agent `{to}` is full")),
            None => ("unknown_agent", format!("there is no agent `{to}`")),
        };
        Counters::add(&counters.dropped, 1);
        if !reports_errors {
            return Ok(());
        }
        let error = Control::error(code, message, request_id);
        self.write(socket, error.text()).await
    }

    /// Answers a mistake of the client, and closes the connection after many.
    async fn mistake(&mut self, socket: &mut Socket, error: Control) -> Result<(), ConnectionEnd> {
        self.mistakes += 1;
        self.write(socket, error.text()).await?;
        if self.mistakes < MISTAKES {
            return Ok(());
        }
        Counters::add(&self.state.counters.refused, 1);
        Err(BROKEN)
    }

    async fn write(&self, socket: &mut Socket, text: String) -> Result<(), ConnectionEnd> {
        self.send(socket, Message::text(text)).await
    }

    async fn send(&self, socket: &mut Socket, message: Message) -> Result<(), ConnectionEnd> {
        let limit = self.state.options.write_within;
        match timeout(limit, socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(BROKEN),
        }
    }
}
