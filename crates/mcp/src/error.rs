//! What goes wrong with a server.

use std::error::Error;
use std::time::Duration;

/// Why a server cannot be reached, or does not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The program cannot be started.
    #[error("the MCP server `{program}` cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// There can be no server at the address, or not with these headers.
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
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server does not answer in time.
    #[error("the MCP server `{server}` does not answer within {limit:?}: {doing}")]
    TimedOut {
        /// The program, or the address.
        server: String,
        /// What it was asked for.
        doing: String,
        /// How long it had.
        limit: Duration,
    },
    /// The server cannot say which tools it has.
    #[error("the MCP server `{server}` does not list its tools: {source}")]
    List {
        /// The program, or the address.
        server: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server is gone.
    #[error("the MCP server `{server}` is gone: {source}; connect again")]
    Gone {
        /// The program, or the address.
        server: String,
        /// How that was noticed.
        source: Box<dyn Error + Send + Sync>,
    },
}
