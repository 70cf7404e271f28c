//! Threads that an earlier version of the code has stored, and their contents.
//!
//! Only this command writes the files in `tests/golden` again:
//!
//! ```text
//! cargo run -p langgraph-tests --features golden --bin golden
//! ```
//!
//! It replaces all of them, which defeats their purpose: code that cannot read the old files cannot
//! read what users have stored either. `json-1.jsonl`, `messagepack-1.jsonl`, `sqlite-4.db` and
//! `postgres-3.sql` hold the same threads; older code wrote them, and no command writes them again.

mod api;
mod dump;
mod graphs;
mod read;
mod write;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Formats};

pub use dump::{dump, restore};
pub use graphs::{World, order, road, walk};
pub use read::{check, expected};
pub use write::write;

/// Any error of these functions.
pub type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Checks that the threads in a file of rows are read, and gone on with.
///
/// # Errors
///
/// The first line that differs, or what cannot be read.
pub async fn check_rows(name: &str, formats: Formats) -> Fallible<()> {
    let rows = std::fs::read_to_string(folder().join(name))?;
    let saver: Arc<dyn Checkpointer> = Arc::new(restore(&rows, formats)?);
    let checked = check(&saver).await;
    checked.map_err(|error| format!("{name}: {error}").into())
}

/// The folder of the files.
pub fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "golden"].iter().collect()
}
