//! Runs of `langgraph` as HTTP responses.
//!
//! - [`sse`] turns the events of a run into server-sent events.
//! - [`Replay`] keeps them, so that a client that has lost its connection goes on where it was, and
//!   several clients see one run.
//! - [`Backlog`] keeps the last items of a sequence for several readers: what a service needs that
//!   stores its events itself.
//! - [`Problem`] is an error of a run as a response: a status, and a JSON body.
//!
//! Nothing here depends on a web framework: an [`Sse`] is a stream of texts, which is a body
//! everywhere.
//!
//! # A handler
//!
//! ```
//! use langgraph::prelude::*;
//! use langgraph_http::{Problem, Replay, Sse};
//!
//! /// Answers 200 only when the run is accepted: a conflict is a 409, with a body that says so.
//! async fn chat(
//!     graph: &CompiledStateGraph<String>,
//!     replay: &Replay,
//!     thread: &str,
//!     text: String,
//! ) -> Result<Sse, Problem> {
//!     let run = graph.thread(thread).run(text);
//!     let events = run.stream(StreamMode::Updates).accepted().await?;
//!     Ok(replay.keep(thread, events))
//! }
//!
//! /// A client that comes again, with the header `Last-Event-ID`.
//! async fn again(replay: &Replay, thread: &str, last: Option<&str>) -> Result<Sse, Problem> {
//!     Ok(match last {
//!         Some(id) => replay.resume(thread, id)?,
//!         None => replay.follow(thread)?,
//!     })
//! }
//! # let _ = (chat, again);
//! ```
//!
//! `examples/chat` of the repository is a whole service.
//!
//! # Features
//!
//! - `axum` (off by default): the types are responses of axum 0.8.
//! - `serve` (off by default): a listener for any service, which closes the connections of slow and silent
//!   clients.

#[cfg(feature = "axum")]
mod axum;
mod backlog;
mod frame;
mod frame_id;
mod frames;
mod problem;
mod replay;
#[cfg(feature = "serve")]
mod serve;
mod sse;

pub use backlog::{Backlog, BacklogReader, Read};
pub use frame::Frame;
pub use frame_id::{FrameId, InvalidFrameId};
pub use frames::Frames;
pub use problem::Problem;
pub use replay::{NotResumable, Replay, ReplayOptions};
#[cfg(feature = "serve")]
pub use serve::{RequestBody, serve};
pub use sse::{BrokenOff, Sse, sse};
