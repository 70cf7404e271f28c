//! What goes wrong with threads and their storage.

use std::error::Error;

/// Why a thread cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The storage failed.
    #[error("{0}")]
    Storage(#[source] Box<dyn Error + Send + Sync>),
    /// The graph has a checkpointer, and the run names no thread.
    #[error("this graph has a checkpointer, so a run needs a thread: add `.thread(\"…\")`")]
    NoThread,
    /// The run names a thread, and the graph has no checkpointer.
    #[error(
        "thread `{0}` cannot be kept: the graph has no checkpointer; compile it with `.checkpointer(..)`"
    )]
    NoCheckpointer(String),
}
