//! What every store and every saver has to do, as suites that yours can run.
//!
//! A development dependency of whoever writes one:
//!
//! - [`store`]: for a [`Store`](langgraph_store::Store).

pub mod store;
