//! A2A agents, for remote nodes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use a2a_client::agent_card::AgentCardResolver;
use async_trait::async_trait;
use futures_util::stream;
use langgraph_remote::{AgentEnvelope, AgentId, RemoteError, ReplyStream, Transport};
use tokio::sync::{OnceCell, mpsc, watch};

use crate::exchange::{Exchange, LONGEST_PAUSE};
use crate::failure::failed;
use crate::link::{Link, choose};

/// The parts of a reply that are buffered before the agent has to wait.
const BUFFER: usize = 16;

/// A2A agents by name: the [`Transport`] of the remote nodes that ask them.
///
/// The card of an agent is read when the agent is first asked. A text is sent as text, and any other
/// request as data. What the agent writes meanwhile is streamed. A task that requires input interrupts the
/// remote node, and a dropped request cancels the task. If the connection breaks,
/// the client follows the task again.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_a2a::{A2aClient, A2aServer};
/// use langgraph_remote::{RemoteNode, serve};
/// use tokio::net::TcpListener;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // An agent: here a graph, but it may be in any language.
/// let mut doubler = StateGraph::<i64>::new();
/// doubler.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// let agent = serve(doubler.compile()?, |n: i64| n, |n| n);
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let url = format!("http://{}", listener.local_addr()?);
/// tokio::spawn(A2aServer::new("doubler", agent).serve(listener));
///
/// // A graph that asks it.
/// let agents = A2aClient::new().agent("doubler", url);
/// let ask = RemoteNode::new("doubler", agents).bind(|n: &i64| Some(*n), |n: i64| n);
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", ask).add_sequence(&["double"]);
/// assert_eq!(graph.compile()?.invoke(21).await?, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct A2aClient {
    agents: BTreeMap<AgentId, Agent>,
    /// The number of requests that are not over, including those whose cancellation is being sent.
    open: Arc<watch::Sender<usize>>,
}

/// Counts a request until it is dropped.
struct OpenRequest(Arc<watch::Sender<usize>>);

impl OpenRequest {
    fn new(open: &Arc<watch::Sender<usize>>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(Arc::clone(open))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

#[derive(Clone)]
struct Agent {
    url: String,
    token: Option<String>,
    link: Arc<OnceCell<Arc<Link>>>,
}

impl A2aClient {
    /// Creates a client without agents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent, whose card is at `URL/.well-known/agent-card.json`.
    #[must_use]
    pub fn agent(mut self, id: impl Into<AgentId>, url: impl Into<String>) -> Self {
        let agent = Agent {
            url: url.into(),
            token: None,
            link: Arc::default(),
        };
        self.agents.insert(id.into(), agent);
        self
    }

    /// Adds an agent that requires a bearer token.
    #[must_use]
    pub fn agent_with_token(
        self,
        id: impl Into<AgentId>,
        url: impl Into<String>,
        token: impl Into<String>,
    ) -> Self {
        let id = id.into();
        let mut this = self.agent(id.clone(), url);
        if let Some(agent) = this.agents.get_mut(&id) {
            agent.token = Some(token.into());
        }
        this
    }

    /// Waits, at most 10 seconds, until no request is open and the cancellations of dropped ones are sent. A
    /// program that ends at once would leave their tasks running.
    pub async fn settled(&self) {
        let mut open = self.open.subscribe();
        let settled = open.wait_for(|open| *open == 0);
        let _ = tokio::time::timeout(LONGEST_PAUSE * 2, settled).await;
    }

    async fn link(&self, id: &AgentId) -> Result<Arc<Link>, RemoteError> {
        let Some(agent) = self.agents.get(id) else {
            return Err(RemoteError::UnknownAgent {
                agent: id.clone(),
                known: self.agents.keys().cloned().collect(),
            });
        };
        let link = agent.link.get_or_try_init(|| async {
            let http = a2a_client::default_reqwest_client(None).map_err(failed)?;
            let resolver = AgentCardResolver::new(Some(http.clone()));
            let card = resolver.resolve(&agent.url).await.map_err(failed)?;
            choose(http, &card, agent.token.clone()).map(Arc::new)
        });
        link.await.cloned()
    }
}

#[async_trait]
impl Transport for A2aClient {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let link = self.link(&request.to).await?;
        let (out, mut parts) = mpsc::channel(BUFFER);
        // A task of its own: it sends the cancellation after the reply is dropped.
        let open = OpenRequest::new(&self.open);
        let exchange = Exchange::new(link, request)?;
        tokio::spawn(async move {
            exchange.run(out).await;
            drop(open);
        });
        Ok(ReplyStream::new(stream::poll_fn(move |cx| {
            parts.poll_recv(cx)
        })))
    }
}

impl fmt::Debug for A2aClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents = self.agents.iter().map(|(id, agent)| (id, &agent.url));
        f.debug_map().entries(agents).finish()
    }
}
