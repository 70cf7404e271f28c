//! Graphs behind the HTTP interface that LangGraph's own clients speak.
//!
//! [`Server`] takes compiled graphs, and answers as LangGraph's server does: assistants, threads,
//! runs, server-sent events, and a store. Threads and runs are rows of a SQLite file, beside the
//! checkpoints of the graphs.
//!
//! # Examples
//!
//! ```no_run
//! use langgraph::prelude::*;
//! use langgraph_agent::MessagesState;
//! use langgraph_server::Server;
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let mut graph = StateGraph::<MessagesState>::new();
//! graph.add_node("think", |_: &MessagesState| ()).add_sequence(&["think"]);
//!
//! let server = Server::new().file("threads.db");
//! server.graph("agent", graph.compile()?).serve("127.0.0.1:2024").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! - `studio` (on by default): the page at `/`, 700 KB of the program.
//! - `webhooks` (off by default): `HttpWebhooks`, a sender of webhooks.
//! - `rustls` (off by default): webhooks to `https://` addresses.
//! - `postgres` (off by default): rows in PostgreSQL, for several processes.

mod app;
mod context;
mod crons;
mod dry_store;
mod encode;
mod error;
mod graph;
mod guard;
#[cfg(feature = "webhooks")]
mod http_webhooks;
mod ids;
mod metrics;
mod protocol;
mod queue;
mod routes;
mod rows;
mod runs;
mod saver;
mod server;
mod server_error;
mod spec;
mod storage;
mod stored_contexts;
mod stream;
#[cfg(feature = "studio")]
mod studio;
mod threads;
mod webhook;
mod wire;

/// The page of this crate: its code is compiled with the examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/server.md")]
struct Page;

pub use context::RunContext;
pub use dry_store::DryStore;
pub use graph::{GraphHandle, InterruptSchema, Schemas, ServedGraph};
pub use guard::{
    Action, Authenticate, Authorize, BearerTokens, Caller, Filter, Limits, Refusal, Resource, User,
};
#[cfg(feature = "webhooks")]
pub use http_webhooks::HttpWebhooks;
pub use runs::Retention;
pub use server::{Server, Serving};
pub use server_error::ServerError;
pub use stored_contexts::StoredContexts;
pub use webhook::{Deliver, Webhook};

/// Returns the method and the path of every route: for tests that walk them.
#[doc(hidden)]
pub fn routes() -> Vec<(String, &'static str)> {
    let table = routes::table().into_iter();
    table
        .map(|(method, path)| (method.to_string(), path))
        .collect()
}
