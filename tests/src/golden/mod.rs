//! Threads that an earlier version of the code has stored, and what they hold.
//!
//! The files in `tests/golden` are never written again, except by
//!
//! ```text
//! cargo run -p langgraph-tests --features sqlite,messagepack --bin golden
//! ```
//!
//! which makes all of them anew. That gives up what they are there for: a change of the stored form
//! that cannot read them cannot read what users have stored either.

mod api;
mod dump;
mod graphs;
mod read;
mod write;

use std::error::Error;
use std::path::PathBuf;

pub use dump::{dump, restore};
pub use graphs::{World, order, road, walk};
pub use read::{check, expected};
pub use write::write;

/// Whatever goes wrong with them.
pub type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The folder of the files.
pub fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "golden"].iter().collect()
}
