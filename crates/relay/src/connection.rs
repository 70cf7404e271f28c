//! One connection of a relay.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::{SinkExt, StreamExt};
use langgraph_remote::{AgentId, EnvelopeBody, Frame, FrameKind};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::metrics::Counters;
use crate::protocol::{Control, Incoming, parse};
use crate::queue::Full;
use crate::registry::Seat;
use crate::relay_state::Shared;
use crate::wire::Accepted;
use crate::wire::Wire;

/// The number of texts that are no frames before the connection is closed.
const PATIENCE: usize = 16;

/// A connection reads and writes in turns: a client that does not read is not read from.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    number: u64,
    mistakes: usize,
}

type Socket = WebSocketStream<Box<dyn Wire>>;

/// The connection is over.
struct Over {
    goodbye: bool,
}

const BROKEN: Over = Over { goodbye: false };

/// Counts the connection, however it ends.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        let connections = &self.0.counters.connections;
        connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>, number: u64) -> Self {
        Self {
            shared,
            number,
            mistakes: 0,
        }
    }

    pub(crate) async fn run(mut self, accepted: Accepted) {
        Counters::add(&self.shared.counters.connections, 1);
        let _counted = Counted(Arc::clone(&self.shared));
        let shared = Arc::clone(&self.shared);
        let options = &shared.options;
        let config = WebSocketConfig::default()
            .max_message_size(Some(options.max_frame))
            .max_frame_size(Some(options.max_frame))
            .read_buffer_size(8 * 1024)
            .write_buffer_size(0);
        let accept = async {
            let wire = accepted.await.ok()?;
            let accept = tokio_tungstenite::accept_async_with_config(wire, Some(config));
            accept.await.ok()
        };
        let Ok(Some(mut socket)) = timeout(options.register_within, accept).await else {
            Counters::add(&self.shared.counters.refused, 1);
            return;
        };
        let limit = options.register_within;
        let registered = timeout(limit, self.registration(&mut socket)).await;
        let Ok(Ok((id, seat))) = registered else {
            Counters::add(&self.shared.counters.refused, 1);
            let _ = timeout(self.shared.options.write_within, socket.close(None)).await;
            return;
        };
        let over = self.serve(&mut socket, &id, &seat).await;
        self.shared.registry().left(self.number, &id, over.goodbye);
        if !over.goodbye {
            let _ = timeout(self.shared.options.write_within, socket.close(None)).await;
        }
    }

    /// Waits until the client registers.
    async fn registration(&mut self, socket: &mut Socket) -> Result<(AgentId, Seat), Over> {
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
                    token,
                    session,
                    request_id,
                })) => {
                    let agent = (&id, name, token);
                    let options = &self.shared.options;
                    let seat = {
                        let mut registry = self.shared.registry();
                        registry.register(self.number, agent, session, options)
                    };
                    match seat {
                        Ok(seat) => {
                            let registered = Control::Registered {
                                id: id.clone(),
                                request_id,
                            };
                            if self.write(socket, registered.text()).await.is_err() {
                                self.shared.registry().left(self.number, &id, false);
                                return Err(BROKEN);
                            }
                            return Ok((id, seat));
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

    async fn serve(&mut self, socket: &mut Socket, id: &AgentId, seat: &Seat) -> Over {
        let every = self.shared.options.heartbeat;
        let mut heartbeat = tokio::time::interval(every);
        let mut heard = Instant::now();
        loop {
            let done = tokio::select! {
                incoming = socket.next() => {
                    heard = Instant::now();
                    match incoming {
                        Some(Ok(Message::Text(text))) => self.take(socket, id, &text).await,
                        Some(Ok(Message::Close(_))) => Err(Over { goodbye: true }),
                        Some(Ok(Message::Binary(_))) => {
                            let error = Control::error("bad_request", "frames are text", None);
                            self.mistake(socket, error).await
                        }
                        Some(Ok(_)) => Ok(()),
                        Some(Err(_)) | None => Err(BROKEN),
                    }
                }
                text = seat.queue.pop() => self.write(socket, text).await,
                () = seat.replaced.notified() => {
                    let error = Control::error("replaced", "the agent has a new connection", None);
                    let _ = self.write(socket, error.text()).await;
                    Err(BROKEN)
                }
                _ = heartbeat.tick() => {
                    if heard.elapsed() > every.mul_f32(2.5) {
                        Err(BROKEN)
                    } else {
                        self.send(socket, Message::Ping(Vec::new().into())).await
                    }
                }
            };
            if let Err(over) = done {
                return over;
            }
        }
    }

    /// Handles a text of a registered agent.
    async fn take(&mut self, socket: &mut Socket, id: &AgentId, text: &str) -> Result<(), Over> {
        match parse(text) {
            Ok(Incoming::Frame(frame)) => self.pass_on(socket, id, *frame).await,
            Ok(Incoming::Control(Control::List { request_id })) => {
                let agents = self.shared.registry().list();
                let answer = Control::Agents { agents, request_id };
                self.write(socket, answer.text()).await
            }
            Ok(Incoming::Control(Control::Ping { request_id })) => {
                self.write(socket, Control::Pong { request_id }.text())
                    .await
            }
            Ok(Incoming::Control(Control::Register { request_id, .. })) => {
                let message = format!("this connection is `{id}`; open another one");
                let error = Control::error("already_registered", message, request_id);
                self.mistake(socket, error).await
            }
            Ok(Incoming::Control(_)) => {
                let error = Control::error("bad_request", "only a relay sends this frame", None);
                self.mistake(socket, error).await
            }
            Err(message) => {
                let error = Control::error("bad_request", message, None);
                self.mistake(socket, error).await
            }
        }
    }

    async fn pass_on(
        &mut self,
        socket: &mut Socket,
        from: &AgentId,
        frame: Frame,
    ) -> Result<(), Over> {
        let request_id = frame.request_id.clone();
        // Whoever misses a numbered part of a reply asks for it again. Of the others, the sender hears.
        let asks = match frame.kind {
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
        let counters = &self.shared.counters;
        let queue = self.shared.registry().route(from, &to);
        let bytes = text.len();
        let (code, message) = match queue.map(|queue| queue.push(from, text)) {
            Some(Ok(())) => {
                Counters::add(&counters.frames, 1);
                Counters::add(&counters.bytes, bytes);
                return Ok(());
            }
            Some(Err(Full)) => ("overloaded", format!("too much waits for agent `{to}`")),
            None => ("unknown_agent", format!("there is no agent `{to}`")),
        };
        Counters::add(&counters.dropped, 1);
        if !asks {
            return Ok(());
        }
        let error = Control::error(code, message, request_id);
        self.write(socket, error.text()).await
    }

    /// Answers a mistake of the client, and closes the connection after many.
    async fn mistake(&mut self, socket: &mut Socket, error: Control) -> Result<(), Over> {
        self.mistakes += 1;
        self.write(socket, error.text()).await?;
        if self.mistakes < PATIENCE {
            return Ok(());
        }
        Counters::add(&self.shared.counters.refused, 1);
        Err(BROKEN)
    }

    async fn write(&self, socket: &mut Socket, text: String) -> Result<(), Over> {
        self.send(socket, Message::text(text)).await
    }

    async fn send(&self, socket: &mut Socket, message: Message) -> Result<(), Over> {
        let limit = self.shared.options.write_within;
        match timeout(limit, socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(BROKEN),
        }
    }
}
