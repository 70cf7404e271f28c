//! Matches replies with requests.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use langgraph::error::NodeError;
use tokio::sync::mpsc;

use crate::recent::Recent;
use crate::reply::ReplyEnding;
use crate::{AgentEnvelope, AgentId, RemoteError, ReplyStream, RequestId};

/// The number of closed requests that are remembered, to distinguish a late reply from one without a request.
const REMEMBERED: usize = 4_096;

/// The requests that wait for their replies, by request id. A [`Transport`](crate::Transport) over
/// a network keeps one for its connection.
///
/// Clones share one table. Replies may come in any order; each goes to its requester. An envelope
/// that replies to no open request is refused.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{AgentEnvelope, CorrelationError, Correlator, EnvelopeBody};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let table = Correlator::new();
/// let request = AgentEnvelope::request("me", "mail", "list")?;
/// let reply = table.expect(&request)?;
/// // … the request goes out, and an envelope comes in:
/// let incoming = request.reply(EnvelopeBody::complete("nothing new")?);
/// table.deliver(incoming.clone())?;
/// assert_eq!(reply.whole().await?, "nothing new");
///
/// assert!(matches!(table.deliver(incoming), Err(CorrelationError::Late(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Correlator {
    shared: Arc<CorrelatorState>,
}

struct CorrelatorState {
    table: Mutex<Table>,
    buffer: usize,
}

type OnAbandoned = Arc<dyn Fn(AgentEnvelope) + Send + Sync>;

struct Table {
    /// In the order of their ids, in which a lost connection fails them.
    waiting: BTreeMap<RequestId, Waiting>,
    over: Recent<RequestId>,
    /// Separates two requests that use the same id at different times.
    serial: u64,
    on_abandoned: Option<OnAbandoned>,
}

struct Waiting {
    serial: u64,
    agent: AgentId,
    sender: mpsc::Sender<AgentEnvelope>,
    fault: Arc<Mutex<Option<RemoteError>>>,
    ending: ReplyEnding,
}

/// Why an envelope is not a reply to an open request, or why a request cannot be opened.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CorrelationError {
    /// An envelope without a request id cannot be matched.
    #[error("the envelope from `{0}` has no request id; expected one")]
    NoRequestId(AgentId),
    /// An open request has that id already.
    #[error("request `{0}` is open already; use `RequestId::generate()`")]
    InUse(RequestId),
    /// There is no such request.
    #[error("there is no request `{0}`")]
    Unknown(RequestId),
    /// The request is closed: answered, cancelled, or timed out.
    #[error("request `{0}` is over; the answer comes too late")]
    Late(RequestId),
    /// The reply comes from another agent than the one asked.
    #[error("request `{request}` is for `{asked}`, and `{from}` answered")]
    WrongAgent {
        /// The request.
        request: RequestId,
        /// The agent asked.
        asked: AgentId,
        /// The agent that replied.
        from: AgentId,
    },
    /// The requester reads too slowly, so its request failed.
    #[error("request `{0}`: more than {1} parts of the reply waited to be read")]
    Overrun(RequestId, usize),
}

impl Default for Correlator {
    fn default() -> Self {
        Self::new()
    }
}

impl Correlator {
    /// Creates an empty table. Each request buffers up to 1,024 envelopes.
    pub fn new() -> Self {
        Self::with_buffer(1_024)
    }

    /// Creates an empty table. Each request buffers up to `buffer` envelopes. If more arrive, the
    /// request fails, so that a slow reader does not block the others.
    pub fn with_buffer(buffer: usize) -> Self {
        Self {
            shared: Arc::new(CorrelatorState {
                table: Mutex::new(Table {
                    waiting: BTreeMap::new(),
                    over: Recent::new(REMEMBERED),
                    serial: 0,
                    on_abandoned: None,
                }),
                buffer: buffer.max(1),
            }),
        }
    }

    /// Calls `cancel` with the [cancellation](AgentEnvelope::cancel) of a request if its reader is
    /// dropped before the reply is complete. Send the cancellation to the agent.
    pub fn on_abandoned(&self, cancel: impl Fn(AgentEnvelope) + Send + Sync + 'static) -> &Self {
        self.shared.table().on_abandoned = Some(Arc::new(cancel));
        self
    }

    /// Opens `request`: the returned stream yields its reply.
    ///
    /// Dropping the stream closes the request.
    ///
    /// # Errors
    ///
    /// If the request has no id, or an id in use.
    pub fn expect(&self, request: &AgentEnvelope) -> Result<ReplyStream, CorrelationError> {
        let Some(id) = &request.request_id else {
            return Err(CorrelationError::NoRequestId(request.from.clone()));
        };
        let (sender, parts) = mpsc::channel(self.shared.buffer);
        let fault = Arc::default();
        let mut table = self.shared.table();
        if table.waiting.contains_key(id) {
            return Err(CorrelationError::InUse(id.clone()));
        }
        table.serial += 1;
        let serial = table.serial;
        let waiting = Waiting {
            serial,
            agent: request.to.clone(),
            sender,
            fault: Arc::clone(&fault),
            ending: ReplyEnding::default(),
        };
        table.waiting.insert(id.clone(), waiting);
        drop(table);
        Ok(ReplyStream::new(Pending {
            shared: Arc::clone(&self.shared),
            cancel: request.cancel(),
            id: id.clone(),
            serial,
            parts,
            fault,
            ending: ReplyEnding::default(),
            ended: false,
        }))
    }

    /// Passes an incoming envelope to its requester. Never waits.
    ///
    /// # Errors
    ///
    /// If the envelope is not a reply to an open request: it has no request id, an unknown one or a
    /// closed one, or it comes from another agent than the one asked. Also if the buffer of the
    /// request is full.
    pub fn deliver(&self, envelope: AgentEnvelope) -> Result<(), CorrelationError> {
        let Some(id) = envelope.request_id.clone() else {
            return Err(CorrelationError::NoRequestId(envelope.from));
        };
        let mut table = self.shared.table();
        let Some(waiting) = table.waiting.get_mut(&id) else {
            return Err(if table.over.contains(&id) {
                CorrelationError::Late(id)
            } else {
                CorrelationError::Unknown(id)
            });
        };
        if waiting.agent != envelope.from {
            return Err(CorrelationError::WrongAgent {
                request: id,
                asked: waiting.agent.clone(),
                from: envelope.from,
            });
        }
        let last = waiting.ending.see(&envelope.body);
        let result = match waiting.sender.try_send(envelope) {
            Ok(()) if !last => return Ok(()),
            Ok(()) => Ok(()),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(CorrelationError::Late(id.clone())),
            Err(mpsc::error::TrySendError::Full(_)) => {
                set(&waiting.fault, RemoteError::Overrun(self.shared.buffer));
                Err(CorrelationError::Overrun(id.clone(), self.shared.buffer))
            }
        };
        table.close(&id);
        result
    }

    /// Returns true if the request waits for more of its reply.
    pub fn is_open(&self, id: &RequestId) -> bool {
        self.shared.table().waiting.contains_key(id)
    }

    /// Fails a request with `error`, if it is open.
    pub fn fail(&self, id: &RequestId, error: RemoteError) {
        if let Some(waiting) = self.shared.table().close(id) {
            set(&waiting.fault, error);
        }
    }

    /// Fails every open request, because the connection was lost.
    pub fn disconnected(&self, reason: &str) {
        let mut table = self.shared.table();
        let open: Vec<RequestId> = table.waiting.keys().cloned().collect();
        for id in open {
            if let Some(waiting) = table.close(&id) {
                let error = RemoteError::connection(NodeError::msg(reason));
                set(&waiting.fault, error);
            }
        }
    }

    /// Returns the number of open requests.
    pub fn open(&self) -> usize {
        self.shared.table().waiting.len()
    }
}

impl CorrelatorState {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn close(&mut self, id: &RequestId) -> Option<Waiting> {
        let waiting = self.waiting.remove(id)?;
        self.over.add(id.clone());
        Some(waiting)
    }
}

fn set(fault: &Mutex<Option<RemoteError>>, error: RemoteError) {
    *fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
}

impl fmt::Debug for Correlator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Correlator")
            .field("open", &self.open())
            .finish_non_exhaustive()
    }
}

/// The reply to one request.
struct Pending {
    shared: Arc<CorrelatorState>,
    cancel: AgentEnvelope,
    id: RequestId,
    serial: u64,
    parts: mpsc::Receiver<AgentEnvelope>,
    fault: Arc<Mutex<Option<RemoteError>>>,
    ending: ReplyEnding,
    ended: bool,
}

impl Stream for Pending {
    type Item = Result<AgentEnvelope, RemoteError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        let next = std::task::ready!(this.parts.poll_recv(cx));
        let Some(envelope) = next else {
            this.ended = true;
            let mut fault = this.fault.lock().unwrap_or_else(PoisonError::into_inner);
            let error = fault.take().unwrap_or(RemoteError::NoReply);
            return Poll::Ready(Some(Err(error)));
        };
        this.ended = this.ending.see(&envelope.body);
        Poll::Ready(Some(Ok(envelope)))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let mut table = self.shared.table();
        let mine = table
            .waiting
            .get(&self.id)
            .is_some_and(|waiting| waiting.serial == self.serial);
        if !mine {
            return;
        }
        table.close(&self.id);
        let cancel = table.on_abandoned.clone();
        // Not under the lock: the callback may call this table.
        drop(table);
        if let Some(cancel) = cancel {
            cancel(self.cancel.clone());
        }
    }
}

langgraph_core::debug_is_message!(CorrelationError);
