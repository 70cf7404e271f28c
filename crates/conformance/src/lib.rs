//! Test suites that every store and every saver has to pass, yours included.
//!
//! Use it as a development dependency of a saver or a store:
//!
//! - [`checkpoint`]: for a [`Checkpointer`](langgraph::checkpoint::Checkpointer);
//! - [`store`]: for a [`Store`](langgraph_store::Store).

mod case;
pub mod checkpoint;
mod report;
pub mod store;

pub use report::Report;
