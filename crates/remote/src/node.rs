//! A remote agent as a node.

mod bound;
mod exchange;
mod passed_keys;
mod time_limit;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use langgraph::error::NodeError;
use langgraph::node::{Context, IntoOutput, Node, NodeRun, Output};
use langgraph::state::State;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::bound::BoundRemoteNode;
use self::passed_keys::PassedKeys;

use crate::envelope::written;
use crate::{
    AgentId, ConversationId, EnvelopeBody, OpenInterrupt, RemoteError, RemotePause, StreamLimits,
    Transport,
};

/// A remote agent, for use as a node of a graph.
///
/// [`bind`](Self::bind) sets how to make the request from the state, and what the reply changes.
/// Without a binding, the request is the whole state and the reply is an update; both types must
/// implement serde's traits.
///
/// While the reply is streamed, its chunks appear in the event stream of the run: text and message
/// chunks as message chunks, others as custom events. The state receives the complete reply.
///
/// If the agent interrupts, the node interrupts its own run, under the same key and with the same
/// payload. The answer goes back to the agent. This needs a thread.
///
/// If the run has a [`Budget`](langgraph_budget::Budget), the agent is allowed what is left of it, and the
/// account is charged with what the agent has spent.
///
/// Every attempt of the node sends a new request. A failure is an
/// [`AgentError::Remote`](langgraph::error::AgentError::Remote), which names the node and the agent, and
/// whose source is a [`RemoteError`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph::prelude::*;
/// use langgraph_remote::{LocalNetwork, RemoteNode, serve};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut doubler = StateGraph::<i64>::new();
/// doubler.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// let network = LocalNetwork::new();
/// network.register("doubler", serve(doubler.compile()?, |n: i64| n, |n| n));
///
/// let double = RemoteNode::new("doubler", network)
///     .timeout(Duration::from_secs(5))
///     .bind(|text: &String| text.parse::<i64>().ok(), |n: i64| n.to_string());
///
/// let mut graph = StateGraph::<String>::new();
/// graph.add_node("double", double.retry(3)).add_sequence(&["double"]);
/// let graph = graph.compile()?;
/// assert_eq!(graph.invoke("21".to_owned()).await?, "42");
/// // Nothing to ask for: the node is skipped.
/// assert_eq!(graph.invoke("none".to_owned()).await?, "none");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RemoteNode {
    agent: AgentId,
    transport: Option<Arc<dyn Transport>>,
    caller: Option<AgentId>,
    timeout: Option<Duration>,
    limits: StreamLimits,
    conversing: bool,
}

impl RemoteNode {
    /// Creates a node for `agent`, reached by `transport`.
    pub fn new(agent: impl Into<AgentId>, transport: impl Transport) -> Self {
        Self {
            transport: Some(Arc::new(transport)),
            ..Self::by_resource(agent)
        }
    }

    /// Creates a node for `agent`, reached by the `dyn Transport` among the resources of the graph
    /// or the run.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph_remote::{LocalNetwork, RemoteNode, Transport};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let judge = RemoteNode::by_resource("judge").bind(|n: &i64| Some(*n), |n: i64| n);
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("judge", judge).add_sequence(&["judge"]);
    /// let graph = graph.compile()?;
    ///
    /// let error = graph.invoke(1).await.unwrap_err();
    /// assert!(error.to_string().starts_with("remote node `judge` (agent `judge`): there is no transport"));
    ///
    /// let network: Arc<dyn Transport> = Arc::new(LocalNetwork::new());
    /// let error = graph.run(1).resource(network).await.unwrap_err();
    /// assert!(error.to_string().ends_with("there is no agent `judge`; there is none at all"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn by_resource(agent: impl Into<AgentId>) -> Self {
        Self {
            agent: agent.into(),
            transport: None,
            caller: None,
            timeout: None,
            limits: StreamLimits::default(),
            conversing: false,
        }
    }

    /// Sets the sender of the request. The default is the run's resource of type [`AgentId`],
    /// the id of the thread, or the id of the run.
    #[must_use]
    pub fn calling_as(mut self, caller: impl Into<AgentId>) -> Self {
        self.caller = Some(caller.into());
        self
    }

    /// Limits the time for the complete reply. The request names it, so that the agent can stop
    /// too.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Limits how much of a streamed reply is buffered.
    #[must_use]
    pub fn limits(mut self, limits: StreamLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Binds the agent to a state: `extract` makes the request from it, and `apply` makes the
    /// node's output (an update, a `Command`, …) from the reply.
    ///
    /// If `extract` returns `None`, the node sends no request and changes nothing, and the graph
    /// continues.
    pub fn bind<S, Q, R, O>(
        self,
        extract: impl Fn(&S) -> Option<Q> + Send + Sync + 'static,
        apply: impl Fn(R) -> O + Send + Sync + 'static,
    ) -> BoundRemoteNode<S>
    where
        S: State,
        Q: Serialize,
        R: DeserializeOwned,
        O: IntoOutput<S>,
    {
        BoundRemoteNode {
            node: self,
            extract: Arc::new(move |state| extract(state).as_ref().map(written).transpose()),
            apply: Arc::new(move |reply| {
                let reply = serde_json::from_value(reply).map_err(RemoteError::Unreadable)?;
                apply(reply).into_output()
            }),
            may_goto: O::MAY_GOTO,
        }
    }

    /// Returns the id of the agent.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// Makes each thread one conversation with the agent: a served graph that
    /// [keeps conversations](crate::ServedGraph::conversations) remembers the earlier requests of
    /// this node on the same thread. Without this, every request is a conversation of its own.
    #[must_use]
    pub fn conversing(mut self) -> Self {
        self.conversing = true;
        self
    }

    /// Sends the request, passes the agent's interrupts on, and returns the complete reply.
    ///
    /// The interrupts are stored with the task. After a resume the node runs again from its start,
    /// and sends only what has no reply yet.
    async fn converse(&self, request: Value, cx: &Context) -> Result<Value, NodeError> {
        let mut body = EnvelopeBody::Complete(request);
        let mut conversation = self.conversation(cx);
        let mut keys = PassedKeys::default();
        let mut asked = Vec::new();
        for round in 0_usize.. {
            let mut whole = None;
            let pause = cx.once(format!("remote:{round}"), async {
                match self.exchange(body, conversation, cx).await {
                    Ok(reply) => {
                        whole = Some(reply);
                        // Only a pause is stored: the reply is stored by what the node returns.
                        Err(NodeError::msg("the reply is complete"))
                    }
                    Err(error) => match error.downcast_ref() {
                        // One that asks again is not: the pause before it gets another answer.
                        Some(RemoteError::Interrupted(pause)) if pause.refused().is_none() => {
                            Ok(pause.clone())
                        }
                        _ => Err(error),
                    },
                }
            });
            let pause: Result<RemotePause, NodeError> = pause.await;
            if let Some(whole) = whole {
                return Ok(whole);
            }
            let pause = pause.map_err(|error| ask_again(error, &asked, cx))?;
            if cx.thread_id().is_none() {
                return Err(RemoteError::Interrupted(pause).into());
            }
            let mut answers = BTreeMap::new();
            for interrupt in pause.interrupts {
                let key = keys.own(&interrupt.key);
                let answer: Value = cx.interrupt(&key, &interrupt.payload)?;
                answers.insert(interrupt.id.clone(), answer);
                asked.push((key, interrupt));
            }
            body = EnvelopeBody::Resume(answers);
            conversation = pause.conversation;
        }
        Err(RemoteError::NoReply.into())
    }

    fn conversation(&self, cx: &Context) -> Option<ConversationId> {
        let thread = cx.thread_id().filter(|_| self.conversing)?;
        let graphs = cx.namespace().iter().map(ToString::to_string);
        let path: Vec<String> = graphs.chain([cx.node().to_owned()]).collect();
        Some(format!("{thread}/{}", path.join("/")).into())
    }
}

/// Opens the interrupt again whose answer the agent has refused, if that is the error.
fn ask_again(error: NodeError, asked: &[(String, OpenInterrupt)], cx: &Context) -> NodeError {
    let refused = match error.downcast_ref() {
        Some(RemoteError::Interrupted(pause)) => pause.refused(),
        _ => None,
    };
    let asked = refused.and_then(|(id, why)| {
        let (key, interrupt) = asked.iter().find(|(_, interrupt)| interrupt.id == id)?;
        Some((key, interrupt, why.to_owned()))
    });
    let Some((key, interrupt, why)) = asked else {
        return error;
    };
    let again = cx.interrupt_checked(key, &interrupt.payload, |_: Value| Err(why));
    again.err().map_or(error, NodeError::from)
}

impl<S> Node<S> for RemoteNode
where
    S: State<Update: DeserializeOwned> + Serialize,
{
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        NodeRun::future(async move {
            let reply = self.converse(written(state)?, cx).await?;
            let update = serde_json::from_value(reply).map_err(RemoteError::Unreadable)?;
            Ok::<_, NodeError>(Output::update(update))
        })
    }

    fn remote_agent(&self) -> Option<&str> {
        Some(self.agent.as_str())
    }
}

impl fmt::Debug for RemoteNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteNode")
            .field("agent", &self.agent)
            .field("caller", &self.caller)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
