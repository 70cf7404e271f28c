//! Errors of a queue.

use std::error::Error;

/// The storage of a queue or a log failed.
#[derive(thiserror::Error)]
#[error("the queue of runs: {0}")]
pub(crate) struct QueueError(#[source] pub(crate) Box<dyn Error + Send + Sync>);

impl QueueError {
    /// Wraps the error of the storage.
    pub(crate) fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

langgraph::debug_is_message!(QueueError);
