//! What every store and every saver has to do, as suites that yours can run.
//!
//! A development dependency of whoever writes one:
//!
//! - [`checkpoint`]: for a [`Checkpointer`](langgraph::checkpoint::Checkpointer);
//! - [`store`]: for a [`Store`](langgraph_store::Store).

pub mod checkpoint;
pub mod store;
