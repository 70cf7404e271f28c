//! Threads and long-term memory for [`langgraph`](https://docs.rs/langgraph) in a SQLite file.
//!
//! One [`Database`] serves everything: any number of graphs, their stores and their checkpointers,
//! also from several processes at once. SQLite itself is compiled in: a build needs a C compiler, a
//! run needs nothing.
//!
//! # Features
//!
//! - `store` (on by default): long-term memory in the same file.

mod database;
mod error;
mod files;
mod handed;
mod job;
mod migrate;
mod quick;
mod reader;
mod saver;
#[cfg(feature = "store")]
mod store;
mod transaction;
mod writer;

pub use database::{Database, Options, Synchronous};
pub use error::SqliteError;
/// The crate whose connections [`Database::write`] hands out.
pub use rusqlite;
pub use saver::SqliteSaver;
#[cfg(feature = "store")]
pub use store::SqliteStore;
