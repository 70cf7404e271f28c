//! The client of a server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use langgraph::message::{Content, Message};
use langgraph_agent::Tools;
use rmcp::model::{
    ClientCapabilities, ClientConfig, GetPromptRequestParams, GetPromptResponse, Implementation,
    JsonObject, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _};

use crate::calls::{Calls, ClientService};
use crate::connection::{Connection, in_time};
use crate::options::Options;
use crate::prompt::{self, Prompt};
use crate::resource::Resource;
use crate::tool::RemoteTool;
use crate::transport::{Transport, spawn};
use crate::{McpError, content, elicit};

/// A connection to an MCP server. Cheap to clone; it closes with its last clone and its last tool,
/// or with [`close`](Self::close).
#[derive(Clone)]
pub struct McpClient {
    connection: Arc<Connection>,
}

impl McpClient {
    /// Connects to a server: a [`Command`](tokio::process::Command) to start, or an
    /// [`Http`](crate::Http) address.
    ///
    /// # Errors
    ///
    /// If the server cannot be started or reached, or does not speak the protocol.
    pub async fn connect(transport: impl Into<Transport>) -> Result<Self, McpError> {
        Self::connect_with(transport, Options::default()).await
    }

    /// As [`connect`](Self::connect), with options.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn connect_with(
        transport: impl Into<Transport>,
        options: Options,
    ) -> Result<Self, McpError> {
        let transport = transport.into();
        let server = transport.display_name();
        let refused = |error: ClientInitializeError| McpError::Connect {
            server: server.clone(),
            source: Box::new(error),
        };
        let calls = Calls::default();
        let handler = ClientService {
            config: identity(),
            calls: calls.clone(),
        };
        // Boxed: it happens once for each server, and its future is large.
        let connecting = Box::pin(async {
            match transport {
                Transport::Process(command) => {
                    let process = spawn(command).map_err(|source| McpError::Start {
                        program: server.clone(),
                        source,
                    })?;
                    handler
                        .serve_with_lifecycle(process, lifecycle())
                        .await
                        .map_err(refused)
                }
                Transport::Http(http) => handler
                    .serve_with_lifecycle(http.open()?, lifecycle())
                    .await
                    .map_err(refused),
            }
        });
        let limit = options.connect_timeout;
        let service = in_time(&server, "connecting", limit, connecting).await?;
        Ok(Self {
            connection: Arc::new(Connection {
                server,
                options,
                service,
                calls,
            }),
        })
    }

    /// Returns the current tools of the server.
    ///
    /// # Errors
    ///
    /// If the connection is lost, or the server does not list them in time.
    pub async fn tools(&self) -> Result<Tools, McpError> {
        let connection = &self.connection;
        let listed = connection
            .list("tools", Box::pin(connection.peer().list_all_tools()))
            .await?;
        let mut tools = Tools::new();
        for tool in listed {
            tools.insert(RemoteTool::new(tool, Arc::clone(connection)));
        }
        Ok(tools)
    }

    /// Returns the current resources of the server: documents that it offers to read.
    ///
    /// # Errors
    ///
    /// If the connection is lost, or the server does not list them in time.
    pub async fn resources(&self) -> Result<Vec<Resource>, McpError> {
        let connection = &self.connection;
        let listed = Box::pin(connection.peer().list_all_resources());
        let listed = connection.list("resources", listed).await?;
        Ok(listed.into_iter().map(Resource::from).collect())
    }

    /// Returns what is in a resource, by its address: text and files, for a message or a tool's answer.
    ///
    /// # Errors
    ///
    /// [`McpError::Read`] if the server refuses; as [`resources`](Self::resources).
    pub async fn read(&self, uri: &str) -> Result<Content, McpError> {
        let connection = &self.connection;
        let params = ReadResourceRequestParams::new(uri);
        let read = Box::pin(connection.peer().read_resource_once(params));
        match connection.read(uri, read).await? {
            ReadResourceResponse::Complete(result) => Ok(content::read(result.contents)),
            _ => Err(connection.input_required(uri)),
        }
    }

    /// Returns the current prompts of the server: messages that it has prepared.
    ///
    /// # Errors
    ///
    /// If the connection is lost, or the server does not list them in time.
    pub async fn prompts(&self) -> Result<Vec<Prompt>, McpError> {
        let connection = &self.connection;
        let listed = Box::pin(connection.peer().list_all_prompts());
        let listed = connection.list("prompts", listed).await?;
        Ok(listed.into_iter().map(Prompt::from).collect())
    }

    /// Returns the messages of a prompt, with its arguments filled in.
    ///
    /// # Errors
    ///
    /// [`McpError::Read`] if the server refuses; as [`prompts`](Self::prompts).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn run(client: langgraph_mcp::McpClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let messages = client.prompt("review", [("language", "Rust")]).await?;
    /// # let _ = messages;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prompt<K: Into<String>, V: Into<String>>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Vec<Message>, McpError> {
        let connection = &self.connection;
        let mut params = GetPromptRequestParams::new(name);
        let arguments = arguments.into_iter();
        let arguments: JsonObject = arguments
            .map(|(name, value)| (name.into(), value.into().into()))
            .collect();
        if !arguments.is_empty() {
            params.arguments = Some(arguments);
        }
        let given = Box::pin(connection.peer().get_prompt_once(params));
        match connection.read(name, given).await? {
            GetPromptResponse::Complete(result) => {
                Ok(result.messages.into_iter().map(prompt::message).collect())
            }
            _ => Err(connection.input_required(name)),
        }
    }

    /// Returns the name and the version of the server.
    pub fn server_info(&self) -> Option<(String, String)> {
        let info = self.connection.peer().peer_info()?;
        let server = info.server_info.as_ref()?;
        Some((server.name.clone(), server.version.clone()))
    }

    /// Returns the server's instructions on how to use it, for a system prompt.
    pub fn instructions(&self) -> Option<String> {
        self.connection.peer().peer_info()?.instructions.clone()
    }

    /// Closes the connection, even for tools that are still in use. A process gets some seconds to
    /// exit. Returns when it has exited.
    pub async fn close(self) {
        self.connection.service.cancellation_token().cancel();
        while !self.connection.service.is_closed() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Returns how a connection begins: with protocol version 2026-07-28, or an older one if the server does not
/// know it.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    }
}

/// Returns our name and version.
fn identity() -> ClientConfig {
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = Some(elicit::capability());
    let this = Implementation::new("langgraph", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(capabilities, this)
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("server", &self.connection.server)
            .finish_non_exhaustive()
    }
}
