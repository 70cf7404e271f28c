//! An agent's connection to a relay.

mod answers;
mod backoff;
mod builder;
mod connect;
mod disconnect;
mod incoming;
mod outgoing;
mod pieces;
mod reconnect;
mod requests;
mod state;
mod work;

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use langgraph_remote::{
    AgentEnvelope, AgentHandler, AgentId, Correlator, Frame, LocalNetwork, RemoteError,
    ReplyStream, RequestId, Transport,
};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

pub use self::builder::RelayClientBuilder;

use self::answers::Answers;
use self::backoff::Backoff;
use self::pieces::split;
use self::reconnect::keep_connected;
use self::state::{AgentPage, ClientCore, ClientState, LinkStatus, OpenRequest};
use crate::error::RelayError;
use crate::protocol::{AgentRecord, Control};

/// The longest pause between two repetitions of a request.
const LONGEST_REPEAT: Duration = Duration::from_secs(30);
/// The time limit of a list of agents.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// An agent's connection to a relay. It is the [`Transport`] of the agent's remote nodes.
///
/// If the connection breaks, the client connects again, with growing pauses, and repeats requests without a
/// complete reply under the same request id. Clones share one connection; dropping the last one
/// closes it.
#[derive(Clone)]
pub struct RelayClient {
    handle: Arc<CloseOnDrop>,
}

struct CloseOnDrop {
    client: Arc<ClientCore>,
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.client.closing.notify_one();
    }
}

impl RelayClient {
    /// Creates the options of a connection: the relay's URL (`ws://…`, or `wss://…` with
    /// the feature `rustls`), and the agent's id.
    pub fn builder(url: impl Into<String>, id: impl Into<AgentId>) -> RelayClientBuilder {
        RelayClientBuilder::new(url, id)
    }

    async fn connect(mut options: RelayClientBuilder) -> Result<Self, RelayError> {
        let network = LocalNetwork::new();
        if let Some(handler) = options.handler.take() {
            network.register(options.id.clone(), SharedHandler(handler));
        }
        let limit = options.connect_within;
        let client = Arc::new(ClientCore {
            network,
            table: Correlator::new(),
            state: Mutex::new(ClientState {
                answers: Answers::new(options.max_frame, options.max_message),
                ..ClientState::default()
            }),
            wake: Notify::new(),
            closing: Notify::new(),
            session: uuid::Uuid::new_v4().to_string(),
            connections: AtomicU64::new(0),
            link: watch::Sender::new(LinkStatus::Connecting("not yet tried".to_owned())),
            options,
        });
        let abandoned = Arc::downgrade(&client);
        client.table.on_abandoned(move |cancel| {
            let Some(client) = abandoned.upgrade() else {
                return;
            };
            if let Some(id) = &cancel.request_id {
                client.state().open.remove(id);
            }
            if let Ok(text) = Frame::send(cancel).to_json() {
                client.note(text);
            }
        });
        tokio::spawn(keep_connected(Arc::clone(&client)));
        let this = Self {
            handle: Arc::new(CloseOnDrop {
                client: Arc::clone(&client),
            }),
        };
        let mut link = client.link.subscribe();
        let standing = tokio::time::timeout(limit, async {
            let standing = link.wait_for(|link| !matches!(link, LinkStatus::Connecting(_)));
            standing.await.map(|link| link.clone())
        });
        match standing.await {
            Ok(Ok(LinkStatus::Over(error))) => Err(error),
            Ok(Ok(_)) => Ok(this),
            Ok(Err(_)) => Err(RelayError::Closed),
            Err(_) => match &*client.link.borrow() {
                LinkStatus::Connecting(why) => Err(RelayError::Unreachable(why.clone())),
                LinkStatus::Connected => Ok(this),
                LinkStatus::Over(error) => Err(error.clone()),
            },
        }
    }

    /// Returns the agent's id.
    pub fn id(&self) -> &AgentId {
        &self.handle.client.options.id
    }

    /// Returns true if there is a connection now.
    pub fn is_connected(&self) -> bool {
        matches!(&*self.handle.client.link.borrow(), LinkStatus::Connected)
    }

    /// Waits until the client has stopped to reconnect, and returns why.
    pub async fn closed(&self) -> RelayError {
        let mut link = self.handle.client.link.subscribe();
        let over = link
            .wait_for(|link| matches!(link, LinkStatus::Over(_)))
            .await;
        match over.as_deref() {
            Ok(LinkStatus::Over(error)) => error.clone(),
            _ => RelayError::Closed,
        }
    }

    /// Closes the connection, so that the relay frees the agent's id at once. Requests without a reply fail, also
    /// those of clones.
    pub async fn close(self) {
        self.handle.client.closing.notify_one();
        self.closed().await;
    }

    /// Returns the agents of the relay.
    ///
    /// # Errors
    ///
    /// If the relay does not answer within 10 seconds.
    pub async fn agents(&self) -> Result<Vec<AgentRecord>, RelayError> {
        let pages = async {
            let mut agents = Vec::new();
            let mut after = None;
            loop {
                let (page, next) = self.page(after).await?;
                agents.extend(page);
                match next {
                    Some(next) => after = Some(next),
                    None => return Some(agents),
                }
            }
        };
        let agents = tokio::time::timeout(LIST_TIMEOUT, pages).await;
        let no_answer = || RelayError::Unreachable("no list of agents in time".to_owned());
        agents.ok().flatten().ok_or_else(no_answer)
    }

    /// Asks for the agents after an id.
    async fn page(&self, after: Option<AgentId>) -> Option<AgentPage> {
        let client = &self.handle.client;
        let id = RequestId::generate();
        let (sender, page) = oneshot::channel();
        client.state().lists.insert(id.clone(), sender);
        let _listed = RemoveList { client, id: &id };
        let list = Control::List {
            after,
            request_id: Some(id.clone()),
        };
        client.note(list.text());
        page.await.ok()
    }
}

impl RelayClientBuilder {
    /// Connects and registers. Later, the client reconnects on its own.
    ///
    /// # Errors
    ///
    /// If the relay cannot be reached in time, or refuses the agent.
    pub async fn connect(self) -> Result<RelayClient, RelayError> {
        RelayClient::connect(self).await
    }

    /// Connects, and answers requests with `handler` until the relay refuses the agent.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect); also if the relay refuses the agent later.
    pub async fn serve(self, handler: impl AgentHandler) -> Result<(), RelayError> {
        let client = self.handler(handler).connect().await?;
        Err(client.closed().await)
    }
}

#[async_trait]
impl Transport for RelayClient {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let client = &self.handle.client;
        if let LinkStatus::Over(error) = &*client.link.borrow() {
            return Err(RemoteError::connection(error.clone()));
        }
        let frame = Frame::send(request.clone());
        let found = frame.to_json().map_err(RemoteError::connection)?.len();
        let RelayClientBuilder {
            max_frame,
            max_message,
            ..
        } = client.options;
        let frames = if found <= max_frame {
            vec![frame]
        } else {
            // The relay would close the connection, at each repetition again.
            let pieces = split(&request, max_frame).filter(|_| found <= max_message);
            let message = format!(
                "a request of {found} bytes; a frame has at most {max_frame}, and all pieces of a message {max_message}"
            );
            let too_large = || {
                RemoteError::connection(RemoteError::Refused {
                    code: "too_large".into(),
                    message,
                })
            };
            let pieces = pieces.ok_or_else(too_large)?;
            pieces.into_iter().map(Frame::send).collect()
        };
        let reply = client.table.expect(&request);
        let reply = reply.map_err(RemoteError::connection)?;
        if let Some(id) = request.request_id {
            let open = OpenRequest {
                frames,
                agent: request.to.clone(),
                pieces: None,
                next: 0,
                run: None,
                due: Instant::now(),
                backoff: Backoff::new(client.options.repeat_after, LONGEST_REPEAT),
                sent: 0,
            };
            client.state().open.insert(id, open);
        }
        client.wake.notify_one();
        Ok(reply)
    }
}

/// Removes a list that is no longer awaited.
struct RemoveList<'a> {
    client: &'a ClientCore,
    id: &'a RequestId,
}

impl Drop for RemoveList<'_> {
    fn drop(&mut self) {
        self.client.state().lists.remove(self.id);
    }
}

/// A handler in an `Arc`.
struct SharedHandler(Arc<dyn AgentHandler>);

impl AgentHandler for SharedHandler {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        self.0.handle(request)
    }
}

impl fmt::Debug for RelayClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayClient")
            .field("id", self.id())
            .field("connected", &self.is_connected())
            .finish_non_exhaustive()
    }
}
