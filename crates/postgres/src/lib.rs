//! Threads and long-term memory for [`langgraph`](https://docs.rs/langgraph) in PostgreSQL.
//!
//! One [`Database`] serves everything: any number of graphs, their stores and their checkpointers,
//! in any number of processes.
//!
//! # Features
//!
//! - `store` (on by default): long-term memory in the same database.
//! - `rustls` (off by default): TLS, for URLs with `sslmode=require`.

mod error;
mod listen;
mod migrate;
mod pool;
mod saver;
mod snapshot;
#[cfg(feature = "store")]
mod store;
#[cfg(feature = "rustls")]
mod tls;

pub use error::PostgresError;
pub use listen::{Notifications, Session};
pub use pool::{Database, Options};
pub use saver::PostgresSaver;
#[cfg(feature = "store")]
pub use store::PostgresStore;
