//! A2A agents, for remote nodes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use a2a::{
    A2AError, AgentCard, CancelTaskRequest, GetTaskRequest, Message, Role, SVC_PARAM_EXTENSIONS,
    SVC_PARAM_VERSION, SendMessageRequest, SendMessageResponse, StreamResponse,
    SubscribeToTaskRequest, TRANSPORT_PROTOCOL_HTTP_JSON, TRANSPORT_PROTOCOL_JSONRPC, VERSION,
    error_code,
};
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::jsonrpc::JsonRpcTransport;
use a2a_client::rest::RestTransport;
use a2a_client::{ServiceParams, Transport as Binding};
use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use langgraph::node::NodeError;
use langgraph_remote::{
    AgentEnvelope, AgentId, ConversationId, EnvelopeBody, ErrorCode, RemoteError, ReplyStream,
    Transport,
};
use serde_json::{Map, Value, json};
use tokio::sync::{OnceCell, mpsc, watch};

use crate::reading::Reading;
use crate::wire;

/// The parts of a reply that wait to be read, before the agent has to.
const BUFFER: usize = 16;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often a broken connection is made anew before any answer came.
const ATTEMPTS: usize = 6;

/// A2A agents by name: the [`Transport`] of the remote nodes that ask them.
///
/// The card of an agent is read when the agent is first asked. A text is sent as text, and any other
/// request as data. What the agent writes meanwhile is streamed. A question of the agent is an
/// interrupt of the remote node, and a dropped request cancels the task. If the connection breaks,
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
    /// The number of requests that are not over, also here: whose cancellation is not told yet.
    open: Arc<watch::Sender<usize>>,
}

/// Counts a request as long as it is there.
struct Counted(Arc<watch::Sender<usize>>);

impl Counted {
    fn new(open: &Arc<watch::Sender<usize>>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(Arc::clone(open))
    }
}

impl Drop for Counted {
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

/// How an agent is reached, as its card says.
struct Link {
    binding: Box<dyn Binding>,
    streaming: bool,
    /// True if it speaks the extension of this crate.
    ours: bool,
    tenant: Option<String>,
    token: Option<String>,
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

    /// Adds an agent that wants a bearer token.
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

    /// Waits, at most 10 seconds, until no request is open and the agents have heard of those that
    /// were given up. A program that ends at once would leave them at work.
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
            link(http, &card, agent).map(Arc::new)
        });
        link.await.cloned()
    }
}

/// Chooses the way to an agent.
fn link(http: reqwest::Client, card: &AgentCard, agent: &Agent) -> Result<Link, RemoteError> {
    let speaks = |binding: &str| {
        card.supported_interfaces.iter().find(|interface| {
            interface.protocol_binding.eq_ignore_ascii_case(binding)
                && interface.protocol_version.starts_with('1')
        })
    };
    let (binding, interface): (Box<dyn Binding>, _) =
        if let Some(interface) = speaks(TRANSPORT_PROTOCOL_JSONRPC) {
            let binding = JsonRpcTransport::new(http, interface.wire_url());
            (Box::new(binding), interface)
        } else if let Some(interface) = speaks(TRANSPORT_PROTOCOL_HTTP_JSON) {
            let binding = RestTransport::new(http, interface.wire_url());
            (Box::new(binding), interface)
        } else {
            let message = "the agent speaks neither JSON-RPC nor HTTP+JSON of A2A 1";
            return Err(RemoteError::connection(NodeError::msg(message)));
        };
    let extensions = card.capabilities.extensions.iter().flatten();
    Ok(Link {
        binding,
        streaming: card.capabilities.streaming == Some(true),
        ours: extensions
            .into_iter()
            .any(|extension| extension.uri == wire::EXTENSION),
        tenant: interface.tenant.clone(),
        token: agent.token.clone(),
    })
}

#[async_trait]
impl Transport for A2aClient {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let link = self.link(&request.to).await?;
        let (out, mut parts) = mpsc::channel(BUFFER);
        // A task of its own: after a cancellation it has to tell the agent.
        let counted = Counted::new(&self.open);
        let exchange = Exchange::new(link, request)?;
        tokio::spawn(async move {
            exchange.run(out).await;
            drop(counted);
        });
        Ok(ReplyStream::new(stream::poll_fn(move |cx| {
            parts.poll_recv(cx)
        })))
    }
}

type Out = mpsc::Sender<Result<AgentEnvelope, RemoteError>>;

/// One request and its reply.
struct Exchange {
    link: Arc<Link>,
    request: AgentEnvelope,
    send: SendMessageRequest,
    params: ServiceParams,
    reading: Reading,
    /// The task, as soon as it is known.
    known: watch::Sender<Option<String>>,
}

/// Why the events of a task end before the reply is complete.
enum Broken {
    /// The connection.
    Connection(A2AError),
    /// The agent refuses.
    Refused(A2AError),
}

impl Exchange {
    fn new(link: Arc<Link>, request: AgentEnvelope) -> Result<Self, RemoteError> {
        let mut message = message(&request, link.ours)?;
        message.metadata = metadata(&request, link.ours);
        let mut params = ServiceParams::new();
        let mut header = |name: &str, value: &str| {
            params.insert(name.to_owned(), vec![value.to_owned()]);
        };
        header(SVC_PARAM_VERSION, VERSION);
        if link.ours {
            header(SVC_PARAM_EXTENSIONS, wire::EXTENSION);
            message.extensions = Some(vec![wire::EXTENSION.to_owned()]);
        }
        if let Some(token) = &link.token {
            header("Authorization", &format!("Bearer {token}"));
        }
        if let Some(trace) = &request.trace {
            header("traceparent", &trace.traceparent);
            if let Some(state) = &trace.tracestate {
                header("tracestate", state);
            }
        }
        Ok(Self {
            reading: Reading::new(link.ours),
            known: watch::Sender::new(None),
            send: SendMessageRequest {
                message,
                configuration: None,
                metadata: None,
                tenant: link.tenant.clone(),
            },
            params,
            request,
            link,
        })
    }

    async fn run(mut self, out: Out) {
        let link = Arc::clone(&self.link);
        let params = self.params.clone();
        let mut known = self.known.subscribe();
        {
            let mut read = pin!(self.read(&out));
            tokio::select! {
                ended = &mut read => {
                    if let Err(error) = ended {
                        let _ = out.send(Err(error)).await;
                    }
                    return;
                }
                () = out.closed() => {}
            }
            // The message may have arrived: wait for the task that it began.
            tokio::select! {
                _ = &mut read => return,
                _ = known.wait_for(Option::is_some) => {}
                () = tokio::time::sleep(LONGEST_PAUSE) => {}
            }
        }
        let Some(id) = known.borrow().clone() else {
            return;
        };
        let cancel = CancelTaskRequest {
            id,
            metadata: None,
            tenant: link.tenant.clone(),
        };
        let _ = link.binding.cancel_task(&params, &cancel).await;
    }

    /// Reads until the reply is complete, over as many connections as that takes.
    async fn read(&mut self, out: &Out) -> Result<(), RemoteError> {
        let mut pause = FIRST_PAUSE;
        let mut attempts = 0;
        loop {
            let before = self.reading.task.is_some();
            let interrupted = match self.events().await {
                Ok(events) => self.forward(events, out).await,
                Err(error) => Some(broken(error)),
            };
            if self.reading.over {
                return Ok(());
            }
            // Whoever follows a task again may find that it has ended meanwhile.
            let interrupted = match (interrupted, self.reading.task.clone()) {
                (Some(Broken::Refused(_)) | None, Some(task)) if before => {
                    match self.get(&task).await {
                        Ok(event) => {
                            self.forward(stream::iter([Ok(event)]).boxed(), out).await;
                            if self.reading.over {
                                return Ok(());
                            }
                            None
                        }
                        Err(error) => Some(broken(error)),
                    }
                }
                (interrupted, _) => interrupted,
            };
            match interrupted {
                Some(Broken::Refused(error)) => return Err(failed(error)),
                // The first message may have arrived: only our own agents know it again.
                Some(Broken::Connection(error))
                    if self.reading.task.is_none() && !self.link.ours =>
                {
                    return Err(failed(error));
                }
                Some(Broken::Connection(error)) if attempts >= ATTEMPTS => {
                    return Err(failed(error));
                }
                _ => {}
            }
            attempts = if before {
                attempts + 1
            } else {
                attempts.max(1)
            };
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Opens the events of the task: sends the message, or follows the task again.
    async fn events(
        &self,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        let binding = &self.link.binding;
        match &self.reading.task {
            Some(task) if self.link.streaming => {
                let subscribe = SubscribeToTaskRequest {
                    id: task.clone(),
                    tenant: self.link.tenant.clone(),
                };
                binding.subscribe_to_task(&self.params, &subscribe).await
            }
            Some(task) => {
                let event = self.get(task).await?;
                Ok(stream::iter([Ok(event)]).boxed())
            }
            None if self.link.streaming => {
                binding
                    .send_streaming_message(&self.params, &self.send)
                    .await
            }
            None => {
                let event = match binding.send_message(&self.params, &self.send).await? {
                    SendMessageResponse::Task(task) => StreamResponse::Task(task),
                    SendMessageResponse::Message(message) => StreamResponse::Message(message),
                };
                Ok(stream::iter([Ok(event)]).boxed())
            }
        }
    }

    async fn get(&self, task: &str) -> Result<StreamResponse, A2AError> {
        let get = GetTaskRequest {
            id: task.to_owned(),
            history_length: Some(0),
            tenant: self.link.tenant.clone(),
        };
        let task = self.link.binding.get_task(&self.params, &get).await?;
        Ok(StreamResponse::Task(task))
    }

    /// Passes the events on, until they end.
    async fn forward(
        &mut self,
        mut events: BoxStream<'static, Result<StreamResponse, A2AError>>,
        out: &Out,
    ) -> Option<Broken> {
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => return Some(broken(error)),
            };
            let bodies = self.reading.take(event);
            self.known.send_if_modified(|known| {
                let new = known.is_none() && self.reading.task.is_some();
                known.clone_from(&self.reading.task);
                new
            });
            for body in bodies {
                let asks = matches!(body, EnvelopeBody::Interrupt(_));
                let mut envelope = self.request.reply(body);
                envelope.spent = self.reading.spent;
                if let (true, Some(task), Some(context)) =
                    (asks, &self.reading.task, &self.reading.context)
                {
                    envelope.conversation = Some(place(context, task));
                }
                // If nobody listens any more, the request is about to be cancelled.
                if out.send(Ok(envelope)).await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
            if self.reading.over {
                break;
            }
        }
        None
    }
}

/// Writes what the agent should observe. What is left to the requester is not for strangers.
fn metadata(request: &AgentEnvelope, ours: bool) -> Option<HashMap<String, Value>> {
    let mut fields = Map::new();
    if let Some(limit) = request.timeout {
        let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        fields.insert("timeout_ms".to_owned(), json!(millis));
    }
    if let Some(allowance) = request.allowance.filter(|_| ours) {
        fields.insert("allowance".to_owned(), json!(allowance));
    }
    (!fields.is_empty()).then(|| wire::metadata(Value::Object(fields)))
}

/// Writes the message of a request.
fn message(request: &AgentEnvelope, ours: bool) -> Result<Message, RemoteError> {
    let mut message = match &request.body {
        EnvelopeBody::Complete(payload) => {
            let mut message = Message::new(Role::User, vec![wire::part(payload)]);
            message.context_id = request.conversation.as_ref().map(ToString::to_string);
            message
        }
        EnvelopeBody::Resume(answers) => {
            let answers: Map<String, Value> = answers.clone().into_iter().collect();
            let part = match answers.values().next() {
                _ if ours => wire::answers(&answers),
                Some(only) if answers.len() == 1 => wire::part(only),
                _ => wire::part(&Value::Object(answers)),
            };
            let mut message = Message::new(Role::User, vec![part]);
            if let Some((context, task)) = request.conversation.as_ref().and_then(whereabouts) {
                message.context_id = Some(context);
                message.task_id = Some(task);
            }
            message
        }
        _ => return Err(RemoteError::NotWhole("part of a message")),
    };
    if let Some(id) = &request.request_id {
        message.message_id = id.to_string();
    }
    Ok(message)
}

/// Where answers to a task go: its context and itself, as one name.
fn place(context: &str, task: &str) -> ConversationId {
    format!("{context}?task={task}").into()
}

fn whereabouts(place: &ConversationId) -> Option<(String, String)> {
    let (context, task) = place.as_str().rsplit_once("?task=")?;
    Some((context.to_owned(), task.to_owned()))
}

fn broken(error: A2AError) -> Broken {
    if is_connection(&error) {
        Broken::Connection(error)
    } else {
        Broken::Refused(error)
    }
}

/// The client library reports a broken connection as an internal error, with one of these texts.
fn is_connection(error: &A2AError) -> bool {
    const TEXTS: [&str; 5] = [
        "HTTP request failed",
        "SSE ",
        "failed to",
        "stream ended with",
        "agent card fetch",
    ];
    error.code == error_code::INTERNAL_ERROR
        && TEXTS.iter().any(|text| error.message.starts_with(text))
}

fn failed(error: A2AError) -> RemoteError {
    if is_connection(&error) {
        return RemoteError::connection(error);
    }
    let coded = |word: &str| Some(error.message.split_once(word)?.1.to_owned());
    let (code, message) = if let Some(rest) = coded("overloaded: ") {
        (ErrorCode::Overloaded, rest)
    } else if let Some(rest) = coded("unauthorized: ") {
        ("unauthorized".into(), rest)
    } else {
        let code = match error.code {
            error_code::TASK_NOT_FOUND => "task_not_found".into(),
            error_code::INVALID_PARAMS | error_code::INVALID_REQUEST => ErrorCode::BadRequest,
            error_code::UNSUPPORTED_OPERATION => "unsupported".into(),
            error_code::CONTENT_TYPE_NOT_SUPPORTED => "content_type".into(),
            error_code::VERSION_NOT_SUPPORTED => "version".into(),
            _ => ErrorCode::Failed,
        };
        (code, error.message)
    };
    RemoteError::Refused { code, message }
}

impl fmt::Debug for A2aClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents = self.agents.iter().map(|(id, agent)| (id, &agent.url));
        f.debug_map().entries(agents).finish()
    }
}
