//! Errors of servers.

use std::error::Error;
use std::time::Duration;

/// Why a connection to a server, or a request, failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The program cannot be started.
    #[error("the MCP server `{program}` cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The address is invalid, or the headers are.
    #[error("`{address}` is no address of an MCP server: {reason}")]
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server does not speak the protocol, refuses, or cannot be reached.
    #[error("cannot connect to the MCP server `{server}`: {source}")]
    Connect {
        /// The program, or the address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Nobody was signed in at the server.
    #[error("cannot sign in at the MCP server `{server}`: {source}")]
    SignIn {
        /// The address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server did not answer in time.
    #[error("the MCP server `{server}` does not answer within {limit:?}: {doing}")]
    TimedOut {
        /// The program, or the address.
        server: String,
        /// The request.
        doing: String,
        /// The time limit.
        limit: Duration,
    },
    /// The server does not list its tools, resources or prompts.
    #[error("the MCP server `{server}` does not list its {what}: {source}")]
    List {
        /// What it does not list.
        what: &'static str,
        /// The program, or the address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server does not give a resource or a prompt.
    #[error("the MCP server `{server}` does not give `{what}`: {source}")]
    Read {
        /// The address of the resource, or the name of the prompt.
        what: String,
        /// The program, or the address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A server of ours has failed.
    #[error("the MCP server `{server}` has stopped: {source}")]
    Serve {
        /// Its name.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The connection is lost.
    #[error("the MCP server `{server}` is gone: {source}; connect again")]
    Gone {
        /// The program, or the address.
        server: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}
