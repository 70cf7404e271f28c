//! What savers, codecs, stores and models of [`langgraph`](https://docs.rs/langgraph) are made of:
//! values, messages, errors, and the interface of savers.
//!
//! A program uses the crate `langgraph`, which shows all of this: [`checkpoint`] as
//! `langgraph::checkpoint`, [`error`] as `langgraph::error`, [`message`] as `langgraph::message`,
//! [`state`] in `langgraph::state`. A crate that stores threads or speaks to models needs no more
//! than this one: it does not compile the runtime.

pub mod checkpoint;
mod checkpoint_id;
pub mod environment;
pub mod error;
mod head;
mod id;
pub mod interrupt;
mod lock;
pub mod message;
pub mod state;
mod strict;

#[doc(no_inline)]
pub use async_trait::async_trait;
pub use id::new_id;
#[doc(no_inline)]
pub use langgraph_topology::NodeName;
#[doc(hidden)]
pub use langgraph_topology::debug_is_message;
#[doc(hidden)]
pub use lock::Lock;
