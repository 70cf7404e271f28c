//! Agents inside one process.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream;
use langgraph::error::NoRuntime;
use langgraph::graph::Topology;
use tokio::time::Sleep;

use crate::reply::ReplyEnding;
use crate::{AgentEnvelope, AgentId, EnvelopeBody, RemoteError, ReplyStream, Transport};

/// Answers requests. A served graph ([`serve`](crate::serve)) does, and so does a function from an
/// envelope to the body of the reply.
///
/// Implement it to answer with a stream; [`ReplyStream::produce`] makes one.
pub trait AgentHandler: Send + Sync + 'static {
    /// Returns the reply to `request`. The reply is computed while it is read; dropping it stops
    /// the work.
    fn handle(&self, request: AgentEnvelope) -> ReplyStream;

    /// Returns the graph behind the agent, if it is one: a transport may describe it to others.
    fn topology(&self) -> Option<&Topology> {
        None
    }
}

impl<F, Fut> AgentHandler for F
where
    F: Fn(AgentEnvelope) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = EnvelopeBody> + Send + 'static,
{
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        let answer = self(request.clone());
        ReplyStream::produce(&request, |replies| async move {
            replies.send(answer.await).await;
            Ok(())
        })
    }
}

/// The agents of one process, and the [`Transport`] between them.
///
/// Clones share one network. Nothing runs in the background: an agent works while its requester reads
/// its reply. It is dropped with the reply, when the reply is complete, or when the request's time
/// limit is over.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{AgentEnvelope, EnvelopeBody, LocalNetwork, Transport};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), langgraph_remote::RemoteError> {
/// let network = LocalNetwork::new();
/// network.register("shout", |request: AgentEnvelope| async move {
///     match request.payload::<String>() {
///         Ok(text) => EnvelopeBody::Complete(text.to_uppercase().into()),
///         Err(error) => EnvelopeBody::error("bad_request".into(), error.to_string()),
///     }
/// });
///
/// let request = AgentEnvelope::request("me", "shout", "hi")?;
/// assert_eq!(network.request(request).await?.whole().await?, "HI");
///
/// let request = AgentEnvelope::request("me", "whisper", "hi")?;
/// let error = network.request(request).await.unwrap_err();
/// assert_eq!(error.to_string(), "there is no agent `whisper`; there is `shout`");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct LocalNetwork {
    agents: Arc<RwLock<BTreeMap<AgentId, Arc<dyn AgentHandler>>>>,
}

impl LocalNetwork {
    /// Creates a network without agents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent. It replaces one of the same name, which still answers its open requests.
    pub fn register(&self, id: impl Into<AgentId>, agent: impl AgentHandler) -> &Self {
        let mut agents = self.agents.write().unwrap_or_else(PoisonError::into_inner);
        agents.insert(id.into(), Arc::new(agent));
        drop(agents);
        self
    }

    /// Removes an agent; returns true if it existed. It still answers its open requests.
    pub fn unregister(&self, id: &AgentId) -> bool {
        let mut agents = self.agents.write().unwrap_or_else(PoisonError::into_inner);
        agents.remove(id).is_some()
    }

    /// Returns the names of the agents, sorted.
    pub fn agents(&self) -> Vec<AgentId> {
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        agents.keys().cloned().collect()
    }

    fn find(&self, id: &AgentId) -> Result<Arc<dyn AgentHandler>, RemoteError> {
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        agents
            .get(id)
            .cloned()
            .ok_or_else(|| RemoteError::UnknownAgent {
                agent: id.clone(),
                known: agents.keys().cloned().collect(),
            })
    }
}

#[async_trait]
impl Transport for LocalNetwork {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let agent = self.find(&request.to)?;
        if let Some(limit) = request.timeout {
            NoRuntime::check(|| format!("the time limit of {limit:?} for a reply"))
                .map_err(RemoteError::connection)?;
        }
        let deadline = request
            .timeout
            .map(|limit| (Box::pin(tokio::time::sleep(limit)), limit));
        Ok(ReplyStream::new(Delivery {
            reply: Some(agent.handle(request)),
            ending: ReplyEnding::default(),
            deadline,
        }))
    }
}

impl fmt::Debug for LocalNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalNetwork")
            .field("agents", &self.agents())
            .finish()
    }
}

/// A reply, until it is complete or its time limit is over.
struct Delivery {
    reply: Option<ReplyStream>,
    ending: ReplyEnding,
    deadline: Option<(Pin<Box<Sleep>>, Duration)>,
}

impl Stream for Delivery {
    type Item = Result<AgentEnvelope, RemoteError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(reply) = &mut this.reply else {
            return Poll::Ready(None);
        };
        // Check the clock first: an agent with the same time limit would answer that its time is
        // over.
        if let Some((sleep, limit)) = &mut this.deadline
            && sleep.as_mut().poll(cx).is_ready()
        {
            this.reply = None;
            return Poll::Ready(Some(Err(RemoteError::TimedOut(*limit))));
        }
        let next = std::task::ready!(Pin::new(reply).poll_next(cx));
        let last = match &next {
            Some(Ok(envelope)) => this.ending.see(&envelope.body),
            Some(Err(_)) | None => true,
        };
        if last {
            this.reply = None;
        }
        Poll::Ready(next)
    }
}
