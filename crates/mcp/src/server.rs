//! Graphs as tools of an MCP server.

mod call;
mod content;
mod graph_tool;
mod http;
mod interrupt_form;
mod paused;
mod secret;
mod sessions;
mod watcher;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use langgraph_agent::ToolDefinition;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ServerHandler, ServiceExt as _};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

pub use graph_tool::GraphTool;
pub use http::McpService;

use crate::McpError;
use call::Call;
use secret::Secret;

/// A server whose tools are graphs.
///
/// # Examples
///
/// ```no_run
/// use langgraph::prelude::*;
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_mcp::{GraphTool, McpServer};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = react_agent(ScriptedModel::new(["Hello!"]), ()).compile()?;
/// let desk = GraphTool::chat("desk", "Answers questions about orders.", agent);
///
/// // A client starts the program, and speaks to it over its standard input and output.
/// McpServer::new("desk", "1.0.0").tool(desk).stdio().await?;
/// # Ok(())
/// # }
/// ```
///
/// [`listen`](Self::listen) serves it at an address, [`service`](Self::service) inside a web server.
///
/// # What a call does
///
/// - A call is a run of the graph. If the graph has a checkpointer, the run has a thread of its own,
///   which is deleted at its end; [`GraphTool::thread`] chooses another one.
/// - An interrupt is an elicitation: the client asks its user, and the answer resumes the run. To
///   clients of protocol version 2026-07-28 the call answers with its questions, and they call again
///   with the answers, at another process too. Older clients are asked during the call.
/// - A client that asks for progress gets it: each node, maps, and what nodes emit.
/// - A call that the client cancels stops the run.
pub struct McpServer {
    name: String,
    version: String,
    instructions: Option<String>,
    tools: Vec<GraphTool>,
    secret: Secret,
    max_sessions: usize,
    client_timeout: Duration,
}

impl McpServer {
    /// Creates a server without tools.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            instructions: None,
            tools: Vec::new(),
            secret: Secret::random(),
            max_sessions: 1_024,
            client_timeout: Duration::from_secs(60),
        }
    }

    /// Sets the instructions for clients on how to use the server.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Adds a tool. It replaces one of the same name.
    #[must_use]
    pub fn tool(mut self, tool: GraphTool) -> Self {
        let name = &tool.definition().name;
        self.tools.retain(|old| old.definition().name != *name);
        self.tools.push(tool);
        self
    }

    /// Sets the key that signs the state that clients send back with their answers. Processes that serve the
    /// same address need the same key, and a checkpointer that they share. The default is random.
    #[must_use]
    pub fn secret(mut self, key: impl AsRef<[u8]>) -> Self {
        self.secret = Secret::of(key.as_ref());
        self
    }

    /// Limits the sessions of clients at an address that speak a protocol version before 2026-07-28; the
    /// default is 1,024. Above it, the session that was idle for longest is closed.
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions.max(1);
        self
    }

    /// Sets how long a client at an address may take for the head of a request, for each part of its body,
    /// and to take each part of a response, before its connection is closed; the default is a minute.
    #[must_use]
    pub fn client_timeout(mut self, timeout: Duration) -> Self {
        self.client_timeout = timeout;
        self
    }

    /// Serves a client over standard input and output, until it is gone.
    ///
    /// # Errors
    ///
    /// If the client does not speak the protocol.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the server and its runs.
    pub async fn stdio(self) -> Result<(), McpError> {
        let (read, write) = rmcp::transport::stdio();
        self.serve(read, write).await
    }

    /// Serves a client over a connection, until it is gone.
    ///
    /// # Errors
    ///
    /// As [`stdio`](Self::stdio).
    ///
    /// # Cancel safety
    ///
    /// As [`stdio`](Self::stdio).
    pub async fn serve<R, W>(self, read: R, write: W) -> Result<(), McpError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let name = self.name.clone();
        let running = match ServerService(Arc::new(self)).serve((read, write)).await {
            Ok(running) => running,
            // The client left before its first message.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                return Err(McpError::Serve {
                    server: name,
                    source: Box::new(error),
                });
            }
        };
        match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(McpError::Serve {
                server: name,
                source: Box::new(error),
            }),
        }
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

/// The server of the protocol.
#[derive(Clone)]
struct ServerService(Arc<McpServer>);

impl ServerHandler for ServerService {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new(&self.0.name, &self.0.version);
        info.instructions.clone_from(&self.0.instructions);
        info
    }

    fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        let tools = self.0.tools.iter();
        let tools = tools.map(|tool| described(tool.definition())).collect();
        let listed = ListToolsResult::with_all_items(tools);
        std::future::ready(Ok(listed))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let named = |tool: &&GraphTool| tool.definition().name == params.name;
        let Some(tool) = self.0.tools.iter().find(named) else {
            let text = format!("unknown tool `{}`", params.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        Call::new(tool, &self.0.secret, &context)
            .answer(params)
            .await
    }
}

fn described(definition: &ToolDefinition) -> Tool {
    let schema = match &definition.parameters {
        Value::Object(schema) => schema.clone(),
        _ => serde_json::Map::new(),
    };
    Tool::new(
        definition.name.clone(),
        definition.description.clone(),
        schema,
    )
}
