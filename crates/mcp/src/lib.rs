//! Tools of MCP servers for [`langgraph`], and graphs as tools of MCP servers: the [Model Context Protocol](https://modelcontextprotocol.io).
//!
//! A server is a local process or an address. Its tools are tools like any other.
//!
//! ```no_run
//! use langgraph_agent::{ScriptedModel, react_agent};
//! use langgraph_mcp::McpClient;
//! use tokio::process::Command;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let mut command = Command::new("uvx");
//! command.args(["mcp-server-time", "--local-timezone", "Europe/Berlin"]);
//! let clock = McpClient::connect(command).await?;
//!
//! # let model = ScriptedModel::new(["…"]);
//! let agent = react_agent(model, clock.tools().await?).compile()?;
//! # Ok(())
//! # }
//! ```
//!
//! # What a call does
//!
//! - The model reads the server's answer: text, pictures, sounds and documents. If the tool failed,
//!   or the server refuses the call, the model reads why, and the run continues.
//! - If the connection is lost, the node fails. A retry, or the continuation of the thread, needs a
//!   new [`McpClient`].
//! - A call whose run is cancelled, or whose node runs out of time, is cancelled at the server.
//! - If a server asks its user a question, the run pauses with an
//!   [`interrupt`](langgraph_agent::ToolContext::interrupt), and the answer reaches the server: see
//!   [`Elicited`]. A server of a protocol version before 2026-07-28 asks during the call: the call is
//!   cancelled, and made again when the answer is there. Such a server does not say for which call it asks.
//!   If several are in flight, the question waits until the others have ended; from then on, each call of
//!   the connection is made alone. Requests of a server for a model's answer or for folders are refused.
//! - The tool emits the progress that a server reports, as `{"type": "mcp_progress", ..}`. Types of clients
//!   have the event.
//!
//! A server may also have documents and prepared messages: see [`McpClient::resources`] and
//! [`McpClient::prompts`].
//!
//! # Graphs as servers
//!
//! [`McpServer`] offers compiled graphs as tools to other programs, over standard input and output or at
//! an address. The interrupts of a graph become questions to the client's user.
//!
//! # Sign-in
//!
//! A server may want a token ([`Http::bearer`]), or a header ([`Http::header`]). Where a person has to
//! authorize the program, as at GitLab's server, `SignIn` does that, with the feature `auth`.
//!
//! # Features
//!
//! - `server` (on by default): graphs as tools of a server.
//! - `auth` (off by default): sign-in with OAuth, in a browser.
//! - `rustls`, `native-tls` (off by default): `https://` addresses, with TLS in Rust, or with that of the
//!   operating system.

mod calls;
mod client;
mod connection;
mod content;
mod elicit;
mod error;
mod options;
mod progress;
mod prompt;
mod resource;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "auth")]
mod sign_in;
mod tool;
mod transport;

pub use client::McpClient;
pub use elicit::{Elicited, Question};
pub use error::McpError;
pub use options::Options;
pub use prompt::{Prompt, PromptArgument};
pub use resource::Resource;
#[cfg(feature = "server")]
pub use server::{GraphTool, McpServer, McpService};
#[cfg(feature = "auth")]
pub use sign_in::SignIn;
pub use transport::{Http, Transport};
