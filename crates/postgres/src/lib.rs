//! Threads and long-term memory for [`langgraph`] in PostgreSQL.
//!
//! One [`Database`] serves everything: any number of graphs, their stores and their checkpointers,
//! in any number of processes.
//!
//! With the feature `rustls`, connections are encrypted for URLs with `sslmode=require`.

mod error;
mod listen;
mod migrate;
mod pool;
mod saver;
mod store;
#[cfg(feature = "rustls")]
mod tls;

pub use error::PostgresError;
pub use listen::Notifications;
pub use pool::{Database, Options};
pub use saver::PostgresSaver;
pub use store::PostgresStore;
