//! Graphs as agents of the A2A protocol, and A2A agents as remote nodes.
//!
//! A2A 1.0 connects agents of different makers, in different languages, over HTTP. [`A2aServer`]
//! serves a graph, or any [`AgentHandler`](langgraph_remote::AgentHandler). [`A2aClient`] is a
//! [`Transport`](langgraph_remote::Transport): a [`RemoteNode`](langgraph_remote::RemoteNode) asks
//! an A2A agent as it asks any other.
//!
//! The types of the protocol and its bindings are those of the official crates (`a2a-lf`,
//! `a2a-server-lf`, `a2a-client-lf`). Tasks are this crate's own: their events are kept until they
//! are read, so a slow reader loses none and delays no other.
//!
//! Between two programs with this crate, requests and replies are exact: numbers of 64 bits,
//! several interrupts at once, streams of several kinds. The card names this as an extension, which
//! other agents ignore.
//!
//! # Features
//!
//! - `rustls` (off by default): `https://` addresses.

mod artifacts;
mod card;
mod client;
mod exchange;
mod failure;
mod handler;
mod hosts;
mod link;
mod message;
mod push;
mod reading;
mod request;
mod server;
mod task;
mod tasks;
mod totals;
mod wire;

pub use client::A2aClient;
pub use server::A2aServer;
