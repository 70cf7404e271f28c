//! Chat models for `langgraph`, through the `genai` crate: `OpenAI` and everything that speaks its
//! protocol, Anthropic, Ollama, and the other providers of `genai`.
//!
//! ```no_run
//! use std::sync::Arc;
//! use langgraph_agent::{ChatModel, MessagesStateUpdate, react_agent};
//! use langgraph_genai::Model;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let model = Model::openai("gpt-4.1-mini").api_key("sk-…").build()?;
//! let agent = react_agent(model, ()).compile()?;
//! let state = agent.invoke(MessagesStateUpdate::user("What is a superstep?")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`from_env`] selects a model by environment variables.
//!
//! # Retries
//!
//! A model never retries: the node that calls it does, with `.retry(ModelError::retries(4))`.
//!
//! # Features
//!
//! - `rustls` (off by default): `https://` addresses, with TLS in Rust.
//! - `native-tls` (off by default): `https://` addresses, with the TLS of the operating system.
//!
//! Hosted providers need one of the two. Without them, a model at an `https://` address fails to build.

mod address;
mod call_id;
mod count;
mod embedder;
mod env;
mod error;
mod model;
mod request;
mod response;
mod signature;
mod stream;

pub use embedder::GenaiEmbedder;
pub use env::{from_env, from_vars};
pub use model::{GenaiModel, Model};
