//! A server for one agent.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use a2a_server::StaticAgentCard;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use langgraph_remote::{AgentHandler, AgentId};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::card::{About, card};
use crate::handler::{Handler, Tokens, UNAUTHORIZED};
use crate::hosts::Hosts;
use crate::push::Push;
use crate::tasks::{TaskLimits, Tasks};

/// Serves an agent over A2A 1.0, as JSON-RPC and as HTTP+JSON.
///
/// Its card is at `/.well-known/agent-card.json`. A context is a conversation: with
/// [`conversations`](langgraph_remote::ServedGraph::conversations), a thread of the graph. A task is
/// one request. If the graph interrupts, the task requires input, and the next message of the task
/// answers. Streams of the reply are artifacts that grow; the reply itself is the artifact `reply`.
///
/// Text arrives as a string, and data as the value that it is.
///
/// A task goes on when its client leaves; `SubscribeToTask` follows it again. Tasks are kept in
/// memory. Only the caller that began a task sees it.
///
/// A server without tokens on a loopback address answers only requests for this machine (`Host`), so that no
/// web page reaches it under a name of its own.
///
/// # Examples
///
/// ```no_run
/// use langgraph::prelude::*;
/// use langgraph_a2a::A2aServer;
/// use langgraph_remote::serve;
/// use tokio::net::TcpListener;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<String>::new();
/// graph.add_node("shout", |text: &String| text.to_uppercase()).add_sequence(&["shout"]);
/// let agent = serve(graph.compile()?, |text: String| text, |state| state);
///
/// let server = A2aServer::new("shouter", agent).description("Repeats text, but louder.");
/// server.serve(TcpListener::bind("127.0.0.1:8080").await?).await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct A2aServer {
    agent: Arc<dyn AgentHandler>,
    about: About,
    url: Option<String>,
    tokens: Option<Tokens>,
    limits: TaskLimits,
    longest: Duration,
    client_timeout: Duration,
    own_network: bool,
}

impl A2aServer {
    /// Creates a server for `agent`.
    pub fn new(id: impl Into<AgentId>, agent: impl AgentHandler) -> Self {
        Self {
            agent: Arc::new(agent),
            about: About::new(id.into()),
            url: None,
            tokens: None,
            limits: TaskLimits {
                running: 256,
                running_of_caller: 256,
                kept: 4_096,
                bytes: 64 << 20,
            },
            longest: Duration::from_secs(3_600),
            client_timeout: Duration::from_secs(60),
            own_network: false,
        }
    }

    /// Sets the name on the card; the default is the id.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.about.name = Some(name.into());
        self
    }

    /// Says on the card what the agent does. The default is the description of the
    /// [input's schema](Self::input_schema). The documentation of the graph's nodes follows.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.about.description = Some(description.into());
        self
    }

    /// Sets the version on the card; the default is `1.0.0`.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.about.version = version.into();
        self
    }

    /// Adds a request to the card that the agent understands.
    pub fn example(mut self, request: impl Into<String>) -> Self {
        self.about.examples.push(request.into());
        self
    }

    /// Sets the address on the card, if it is another than the listener's: that of a proxy.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets the JSON Schema of requests, for example `schemars::schema_for!(MailRequest)`.
    pub fn input_schema(mut self, schema: impl Into<Value>) -> Self {
        self.about.input_schema = Some(schema.into());
        self
    }

    /// Sets the JSON Schema of replies.
    pub fn output_schema(mut self, schema: impl Into<Value>) -> Self {
        self.about.output_schema = Some(schema.into());
        self
    }

    /// Gives a caller a bearer token. With at least one token, only callers with a token are
    /// served. Without any, all callers are, and they count as one.
    pub fn token(mut self, caller: impl Into<AgentId>, token: impl Into<String>) -> Self {
        let tokens = self.tokens.get_or_insert_default();
        tokens.insert(token.into(), caller.into());
        self
    }

    /// Limits the running tasks, and the tasks that are kept; the defaults are 256 and 4,096. With tokens, one
    /// caller has at most a quarter of the running ones. The messages and replies of all tasks together take
    /// about 64 MiB: those that ended first are forgotten, and running ones are always kept. Each task takes
    /// at most 16 MiB, and ends with an error above it.
    pub fn tasks(mut self, running: usize, kept: usize) -> Self {
        self.limits.running = running;
        self.limits.kept = kept;
        self
    }

    /// Limits the time of each task's work; the default is an hour. A client may ask for less.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.longest = limit;
        self
    }

    /// Sets how long a client may take for the head of a request, for each part of its body, and to take
    /// each part of a response, before its connection is closed; the default is a minute.
    pub fn client_timeout(mut self, timeout: Duration) -> Self {
        self.client_timeout = timeout;
        self
    }

    /// Allows webhooks in the server's own network. Without this, a webhook whose address is private or of
    /// this machine is refused, when it is registered and each time it is called.
    pub fn webhooks_of_own_network(mut self) -> Self {
        self.own_network = true;
        self
    }

    /// Serves the connections of `listener`, until the future is dropped.
    ///
    /// # Errors
    ///
    /// If the listener has no address.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let url = match &self.url {
            Some(url) => url.clone(),
            None => format!("http://{}", listener.local_addr()?),
        };
        let card = card(
            &self.about,
            self.agent.topology(),
            self.tokens.is_some(),
            &url,
        );
        let has_tokens = self.tokens.is_some();
        let hosts = Hosts::new(listener.local_addr()?, self.url.as_deref(), has_tokens);
        let card = Arc::new(StaticAgentCard::new(card));
        let handler = Arc::new(Handler {
            id: self.about.id,
            agent: self.agent,
            tokens: self.tokens,
            tasks: Tasks::default(),
            limits: TaskLimits {
                running_of_caller: if has_tokens {
                    self.limits.running.div_ceil(4)
                } else {
                    self.limits.running
                },
                ..self.limits
            },
            longest: self.longest,
            push: Push::new(self.own_network),
        });
        let methods = a2a_server::jsonrpc::jsonrpc_router(Arc::clone(&handler))
            .merge(a2a_server::rest::rest_router(Arc::clone(&handler)))
            .layer(middleware::from_fn_with_state(handler, authorize));
        let router = a2a_server::agent_card::agent_card_router(card)
            .merge(methods)
            .layer(middleware::from_fn_with_state(Arc::new(hosts), local));
        let until = std::future::pending();
        langgraph_http::serve(listener, router, self.client_timeout, until).await;
        Ok(())
    }
}

/// Refuses requests for other hosts.
async fn local(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|value| value.to_str().ok());
    if hosts.allow(host.or(request.uri().host())) {
        return next.run(request).await;
    }
    let message = "the `Host` of the request is not this server; set its address with `url`";
    (StatusCode::FORBIDDEN, message).into_response()
}

/// Refuses callers without a token, before anything of the request is read.
async fn authorize(State(handler): State<Arc<Handler>>, request: Request, next: Next) -> Response {
    let header = request.headers().get(header::AUTHORIZATION);
    if handler
        .caller(header.and_then(|value| value.to_str().ok()))
        .is_some()
    {
        return next.run(request).await;
    }
    let error = json!({"code": a2a::error_code::INVALID_REQUEST, "message": UNAUTHORIZED});
    let body = axum::Json(json!({"jsonrpc": "2.0", "id": null, "error": error}));
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge, body).into_response()
}

impl fmt::Debug for A2aServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("A2aServer")
            .field("id", &self.about.id)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
