//! Errors of servers.

use std::error::Error;
use std::time::Duration;

/// Why a connection to a server, or a request, failed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The program cannot be started.
    #[error("failed to start the MCP server `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The address is invalid, or the headers are.
    #[error("invalid address `{address}` of an MCP server: {reason}")]
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server does not speak the protocol, refuses, or cannot be reached.
    #[error("failed to connect to the MCP server `{server}`: {source}")]
    Connect {
        /// The program, or the address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The sign-in at the server failed.
    #[error("failed to sign in at the MCP server `{server}`: {source}")]
    SignIn {
        /// The address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server did not answer in time.
    #[error("no answer of the MCP server `{server}` within {limit:?}: {doing}")]
    TimedOut {
        /// The program, or the address.
        server: String,
        /// The request.
        doing: String,
        /// The time limit.
        limit: Duration,
    },
    /// The tools, resources or prompts cannot be listed.
    #[error("failed to list the {what} of the MCP server `{server}`: {source}")]
    List {
        /// `tools`, `resources` or `prompts`.
        what: &'static str,
        /// The program, or the address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A resource or a prompt cannot be read.
    #[error("failed to read `{what}` from the MCP server `{server}`: {source}")]
    Read {
        /// The address of the resource, or the name of the prompt.
        what: String,
        /// The program, or the address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A server of this program has failed.
    #[error("the MCP server `{server}` has stopped: {source}")]
    Serve {
        /// Its name.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The connection is lost.
    #[error("lost the connection to the MCP server `{server}`: {source}; connect again")]
    Gone {
        /// The program, or the address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

langgraph::debug_is_message!(McpError);
