//! A connection to a server.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use langgraph_agent::Tools;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RoleClient,
    RunningService,
};

use crate::tool::RemoteTool;
use crate::transport::{Transport, spawn};
use crate::{McpError, elicit};

/// The options of a connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) prefix: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(60),
            call_timeout: Duration::from_secs(300),
            prefix: String::new(),
        }
    }
}

impl Options {
    /// Limits the time until the server is ready, and to list its tools; the default is a minute.
    /// Some servers are downloaded at their first start.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Limits the time of a call; the default is five minutes. A longer call is cancelled, and the
    /// model is told.
    #[must_use]
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.call_timeout = limit;
        self
    }

    /// Sets a prefix for the names of the tools, so that those of several servers do not clash.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }
}

/// A connection to an MCP server. Cheap to clone; it closes with its last clone and its last tool,
/// or with [`close`](Self::close).
#[derive(Clone)]
pub struct McpClient {
    connection: Arc<Connection>,
}

/// What clients and tools share.
pub(crate) struct Connection {
    pub(crate) server: String,
    pub(crate) options: Options,
    service: RunningService<RoleClient, ClientConfig>,
}

impl Connection {
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    async fn within<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, McpError> {
        let limit = self.options.connect_timeout;
        in_time(&self.server, doing, limit, work).await
    }
}

async fn in_time<T>(
    server: &str,
    doing: &str,
    limit: Duration,
    work: impl Future<Output = Result<T, McpError>>,
) -> Result<T, McpError> {
    let late = |_| McpError::TimedOut {
        server: server.to_owned(),
        doing: doing.to_owned(),
        limit,
    };
    tokio::time::timeout(limit, work).await.map_err(late)?
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
        let server = transport.place();
        let refused = |error: ClientInitializeError| McpError::Connect {
            server: server.clone(),
            source: Box::new(error),
        };
        // Boxed: it happens once for each server, and its future is large.
        let connecting = Box::pin(async {
            match transport {
                Transport::Process(command) => {
                    let process = spawn(command).map_err(|source| McpError::Start {
                        program: server.clone(),
                        source,
                    })?;
                    identity()
                        .serve_with_lifecycle(process, lifecycle())
                        .await
                        .map_err(refused)
                }
                Transport::Http(http) => identity()
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
        let listing = async {
            let listed = connection.peer().list_all_tools().await;
            listed.map_err(|error| McpError::List {
                server: connection.server.clone(),
                source: Box::new(error),
            })
        };
        let listed = connection.within("listing its tools", listing).await?;
        let mut tools = Tools::new();
        for tool in listed {
            tools.insert(RemoteTool::new(tool, Arc::clone(connection)));
        }
        Ok(tools)
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

/// Returns how a connection begins: with the protocol in which servers can ask, or an older one if
/// the server does not know it.
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
