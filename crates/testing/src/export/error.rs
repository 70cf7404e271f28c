//! Errors of exports.

use std::path::PathBuf;

use langgraph::error::{AgentError, CheckpointError};

/// Why a thread cannot be [exported](crate::export()), or an exported one cannot be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The saver has no such thread of the graph.
    #[error("the saver has no thread `{thread}` of the graph `{graph}`")]
    UnknownThread {
        /// The thread.
        thread: String,
        /// The graph.
        graph: String,
    },
    /// No superstep of the thread can be compared, so that a test of it could not fail.
    #[error("nothing of thread `{thread}` can be compared:\n{report}")]
    NothingCompared {
        /// The thread.
        thread: String,
        /// Why.
        report: String,
    },
    /// The thread cannot be read.
    #[error("thread `{thread}` cannot be read: {source}")]
    Thread {
        /// The thread.
        thread: String,
        /// What happened.
        source: Box<CheckpointError>,
    },
    /// The thread could not be replayed.
    #[error("thread `{thread}` cannot be replayed: {source}")]
    Replay {
        /// The thread.
        thread: String,
        /// What happened.
        source: Box<AgentError>,
    },
    /// A text is no exported thread, or no cassette.
    #[error("the {what} cannot be read: {source}")]
    Parse {
        /// Which of the two.
        what: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A file cannot be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}

langgraph_core::debug_is_message!(ExportError);
