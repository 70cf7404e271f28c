//! Errors.

use std::error::Error;
use std::time::Duration;

/// Why a queue cannot be used, or a task cannot run on it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The server cannot be reached.
    #[error("no connection to NATS at {url}: {source}")]
    Connect {
        /// The address.
        url: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A message cannot be sent or read, or its object cannot be stored or fetched.
    #[error("{what}: {source}")]
    Link {
        /// What was tried.
        what: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A value is above the message limit, and there is no object store.
    #[error(
        "{what} has {bytes} bytes, above the server's message limit of {limit}; start the server with JetStream (`--jetstream`), so that its object store takes it, or raise `max_payload`"
    )]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// No worker took a task in time.
    #[error("no worker of queue `{queue}` took `{node}` within {patience:?}{}", others(.refused))]
    NoWorker {
        /// The queue.
        queue: String,
        /// The node.
        node: String,
        /// The time limit.
        patience: Duration,
        /// The workers of other versions of the graph.
        refused: Vec<String>,
    },
    /// The queue has ended, because its connection has.
    #[error("the queue has ended")]
    Ended,
}

impl QueueError {
    pub(crate) fn link(
        what: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Link {
            what: what.into(),
            source: source.into(),
        }
    }
}

fn others(refused: &[String]) -> String {
    if refused.is_empty() {
        return String::new();
    }
    format!(
        "; refused, because their graph differs: {}",
        refused.join(", ")
    )
}

langgraph::debug_is_message!(QueueError);
