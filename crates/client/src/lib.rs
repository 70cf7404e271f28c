//! A client for LangGraph's server interface: of this project's server, and of others that speak it.
//!
//! [`Client`] has the routes for assistants, threads, runs, crons and the store. A [`RunStream`] resumes
//! when its connection breaks. [`RemoteGraph`] makes a graph behind such a server a node of
//! another one.
//!
//! # Examples
//!
//! ```no_run
//! use langgraph_client::{Client, NewRun};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new("http://127.0.0.1:2024")?;
//! let thread = client.create_thread(json!({})).await?;
//! let id = thread["thread_id"].as_str().unwrap_or_default();
//! let run = NewRun::new("agent").input(json!({"messages": [{"role": "user", "content": "Hi"}]}));
//! let mut events = client.stream(Some(id), &run.stream_mode(&["updates"])).await?;
//! while let Some(event) = events.next().await {
//!     let event = event?;
//!     println!("{}: {}", event.event, event.data);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! - `rustls` (off by default): `https://` addresses.

mod attempts;
mod client;
mod error;
mod event;
mod graph;
mod routes;
mod run;
mod stream;

pub use client::Client;
pub use error::ClientError;
pub use event::ServerEvent;
pub use graph::RemoteGraph;
pub use run::NewRun;
pub use stream::RunStream;
