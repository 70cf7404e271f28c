//! The transport to a server.

use std::collections::HashMap;
use std::fmt;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::child_process::TokioChildProcess;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::process::Command;

use crate::McpError;

/// How to reach a server: a process to start, with its standard input and output, or an address.
#[derive(Debug)]
#[non_exhaustive]
pub enum Transport {
    /// A process. It shares our standard error. It ends with the last clone of the client.
    Process(Command),
    /// An address that speaks streamable HTTP.
    Http(Http),
}

impl From<Command> for Transport {
    fn from(command: Command) -> Self {
        Self::Process(command)
    }
}

impl From<std::process::Command> for Transport {
    fn from(command: std::process::Command) -> Self {
        Self::Process(command.into())
    }
}

impl From<Http> for Transport {
    fn from(http: Http) -> Self {
        Self::Http(http)
    }
}

impl Transport {
    /// Returns the name in messages: the program without its arguments, the address without its
    /// query, as both may hold secrets.
    pub(crate) fn display_name(&self) -> String {
        match self {
            Self::Process(command) => {
                let program = command.as_std().get_program();
                program.to_string_lossy().into_owned()
            }
            Self::Http(http) => {
                let address = http.url.split(['?', '#']).next();
                address.unwrap_or_default().to_owned()
            }
        }
    }
}

/// A server at an address.
///
/// # Examples
///
/// ```
/// use langgraph_mcp::Http;
///
/// let server = Http::new("https://mcp.example.com/mcp").bearer("secret");
/// # assert!(!format!("{server:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct Http {
    url: String,
    bearer: Option<String>,
    headers: Vec<(String, String)>,
}

impl Http {
    /// Creates the address of a server.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            bearer: None,
            headers: Vec::new(),
        }
    }

    /// Sends this token with every request, as `Authorization: Bearer …`.
    #[must_use]
    pub fn bearer(mut self, token: impl Into<String>) -> Self {
        self.bearer = Some(token.into());
        self
    }

    /// Sends this header with every request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Opens the connection.
    pub(crate) fn open(self) -> Result<StreamableHttpClientTransport<reqwest::Client>, McpError> {
        let refused = |reason: String| McpError::Address {
            address: self.url.clone(),
            reason,
        };
        let url = reqwest::Url::parse(&self.url).map_err(|error| refused(error.to_string()))?;
        let encrypts = cfg!(any(feature = "rustls", feature = "native-tls"));
        match url.scheme() {
            "http" => {}
            "https" if encrypts => {}
            "https" => {
                let features =
                    "`https` needs the feature `rustls` or `native-tls` of langgraph-mcp";
                return Err(refused(features.to_owned()));
            }
            other => return Err(refused(format!("`{other}` is neither `http` nor `https`"))),
        }
        let mut headers = HashMap::new();
        for (name, value) in &self.headers {
            let header = |reason: &dyn fmt::Display| refused(format!("header `{name}`: {reason}"));
            let name = http::HeaderName::try_from(name.as_str()).map_err(|error| header(&error))?;
            let value =
                http::HeaderValue::try_from(value.as_str()).map_err(|error| header(&error))?;
            headers.insert(name, value);
        }
        let mut config =
            StreamableHttpClientTransportConfig::with_uri(self.url.clone()).custom_headers(headers);
        if let Some(token) = self.bearer {
            config = config.auth_header(token);
        }
        Ok(StreamableHttpClientTransport::from_config(config))
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Http")
            .field("url", &self.url.split(['?', '#']).next())
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

/// Starts the process.
pub(crate) fn spawn(command: Command) -> Result<TokioChildProcess, std::io::Error> {
    TokioChildProcess::new(command)
}
