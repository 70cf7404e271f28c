//! What goes wrong with threads and their storage.

use std::error::Error;

use super::CheckpointId;

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
        "thread `{0}` cannot be kept or read: the graph has no checkpointer; add one with `.checkpointer(..)`"
    )]
    NoCheckpointer(String),
    /// Another run has written to the thread meanwhile.
    #[error("another run has written to thread `{thread}` meanwhile (head `{}`, expected `{}`); load it again", text(*head), text(*known))]
    Conflict {
        /// The thread.
        thread: String,
        /// The head that the writer knew.
        known: Option<CheckpointId>,
        /// The head there is.
        head: Option<CheckpointId>,
    },
    /// The thread has nothing to go on with.
    #[error(
        "thread `{0}` does not exist, so there is nothing to go on with; start it with `run(input).thread(..)`"
    )]
    UnknownThread(String),
    /// The thread has no such checkpoint.
    #[error("thread `{thread}` has no checkpoint `{id}`")]
    UnknownCheckpoint {
        /// The thread.
        thread: String,
        /// The id.
        id: CheckpointId,
    },
    /// An answer was given, and nothing waits for it.
    #[error("nothing on thread `{thread}` waits for an answer to `{key}` (open: {open})")]
    NothingToResume {
        /// The thread.
        thread: String,
        /// The key or id of the answer.
        key: String,
        /// What is open.
        open: String,
    },
    /// An answer fits several questions.
    #[error(
        "several questions on thread `{thread}` wait for an answer to `{key}`; answer by id: {open}"
    )]
    AmbiguousResume {
        /// The thread.
        thread: String,
        /// The key of the answer.
        key: String,
        /// The ids of the questions it fits.
        open: String,
    },
    /// The thread waits for a node that the graph does not have.
    #[error(
        "thread `{thread}` waits for node `{node}`, which graph `{graph}` does not have; give the node that took its place an alias"
    )]
    UnknownNode {
        /// The thread.
        thread: String,
        /// The node.
        node: String,
        /// The graph.
        graph: String,
    },
    /// A record holds a value of another type.
    #[error("thread `{0}` was written by a graph over another state type")]
    WrongType(String),
    /// An update from outside says nothing.
    #[error("an update of a thread needs at least one superstep, and each superstep an update")]
    EmptyUpdate,
    /// An update from outside does not fit the thread.
    #[error("{0}")]
    InvalidUpdate(String),
}

fn text(id: Option<CheckpointId>) -> String {
    id.map_or_else(|| "none".to_owned(), |id| id.to_string())
}
