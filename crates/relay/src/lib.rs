//! A relay between agents in different processes, and the transport over it.
//!
//! Agents connect to a [`Relay`] by WebSocket and register under an id. Then they list each other,
//! send requests and reply. The program `agora` is a relay. [`RelayClient`] is an agent's
//! connection: a [`Transport`](langgraph_remote::Transport) for its remote nodes, and the place
//! where it serves a graph.
//!
//! ```
//! use std::sync::Arc;
//! use langgraph::prelude::*;
//! use langgraph_relay::{Relay, RelayClient, RelayOptions};
//! use langgraph_remote::{RemoteNode, serve};
//! use tokio::net::TcpListener;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let url = format!("ws://{}/ws", listener.local_addr()?);
//! tokio::spawn(async move { Relay::new(RelayOptions::default()).serve(listener).await });
//!
//! // One process serves a graph.
//! let mut doubler = StateGraph::<i64>::new();
//! doubler.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
//! let served = serve(doubler.compile()?, |n: i64| n, |n| n);
//! let _serving = RelayClient::builder(&url, "doubler").handler(served).connect().await?;
//!
//! // Another one asks it.
//! let relay = RelayClient::builder(&url, "assistant").connect().await?;
//! let ask = RemoteNode::new("doubler", relay).bind(|n: &i64| Some(*n), |n: i64| n);
//! let mut graph = StateGraph::<i64>::new();
//! graph.add_node("double", ask).add_sequence(&["double"]);
//! assert_eq!(graph.compile()?.invoke(21).await?, 42);
//! # Ok(())
//! # }
//! ```
//!
//! # Lost and repeated frames
//!
//! The relay stores nothing beyond its queues, so a lost connection can lose frames. The two ends
//! repair that: parts of a reply are numbered, and the requester repeats a request, under the same
//! id, until the reply is complete. The serving side runs each id once, and answers a repeated one
//! from what it has.
//!
//! # Limits
//!
//! A relay bounds frames, queues, connections, agents, and the texts of a registration (256 bytes each); see
//! [`RelayOptions`]. A list of agents has pages of half a frame. An agent works on at most 256 requests: one
//! requester alone has at most half of them, and a quarter while others use the rest. A web page in a browser is
//! refused unless its [origin](RelayOptions::origin) is allowed.
//!
//! # Features
//!
//! - `rustls` (off by default): `wss://`, for the relay and its clients.

mod client;
mod error;
mod protocol;
mod relay;
#[cfg(feature = "rustls")]
mod tls;
mod turns;
mod wire;

/// The guide: its code is compiled with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/remote.md")]
struct Guide;

pub use client::{RelayClient, RelayClientBuilder};
pub use error::RelayError;
pub use protocol::AgentRecord;
pub use relay::{Relay, RelayMetrics, RelayOptions};
#[cfg(feature = "rustls")]
pub use tls::TlsListener;
pub use wire::{Accepted, Dial, Listen, Wire};
