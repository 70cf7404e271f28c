//! Threads that an earlier version of the code has stored, and their contents.
//!
//! Only this command writes the files in `tests/golden` again:
//!
//! ```text
//! cargo run -p langgraph-tests --features sqlite,messagepack --bin golden
//! ```
//!
//! It replaces all of them, which defeats their purpose: code that cannot read the old files cannot
//! read what users have stored either. `sqlite-4.db` and `postgres-3.sql` hold the same threads; the
//! last code of these schemas wrote them, and no command writes them again.

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

/// Any error of these functions.
pub type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The folder of the files.
pub fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "golden"].iter().collect()
}
