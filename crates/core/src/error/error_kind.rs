//! Kinds of errors.

/// The kind of error that a run ended with, on which a caller can decide.
///
/// `AgentError::kind` returns it.
///
/// # Examples
///
/// ```
/// use langgraph::error::{AgentError, ErrorKind};
///
/// let kind = AgentError::Cancelled.kind();
/// assert_eq!(kind, ErrorKind::Cancelled);
/// assert_eq!((kind.code(), kind.http_status(), kind.is_retryable()), ("cancelled", 499, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another run holds the thread, or has written to it in the meantime.
    Conflict,
    /// The name is taken.
    AlreadyExists,
    /// There is no such thread, checkpoint, interrupt or graph.
    NotFound,
    /// The answer to an interrupt has the wrong form. The interrupt stays open.
    RefusedAnswer,
    /// The caller's input is invalid.
    InvalidInput,
    /// The run reached its step limit, or the bound of an edge.
    Limit,
    /// The caller cancelled the run.
    Cancelled,
    /// The run exceeded its time limit.
    TimedOut,
    /// The run waits for an answer, but the caller wanted its result.
    Interrupted,
    /// A node failed.
    Node,
    /// A remote agent failed, or could not be reached.
    Remote,
    /// The storage of threads failed.
    Storage,
    /// The data of a thread cannot be read, or a value cannot be stored.
    StoredData,
    /// The graph, or the program around it, has a mistake.
    Program,
}

impl ErrorKind {
    /// Returns the kind as a word for logs, metrics and clients. It is the same in every version.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::AlreadyExists => "already_exists",
            Self::NotFound => "not_found",
            Self::RefusedAnswer => "refused_answer",
            Self::InvalidInput => "invalid_input",
            Self::Limit => "limit",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::Node => "node",
            Self::Remote => "remote",
            Self::Storage => "storage",
            Self::StoredData => "stored_data",
            Self::Program => "program",
        }
    }

    /// Returns the matching HTTP status.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::InvalidInput => 400,
            Self::NotFound => 404,
            Self::Conflict | Self::AlreadyExists | Self::Interrupted => 409,
            Self::RefusedAnswer => 422,
            // The status that nginx logs when the client closes the connection.
            Self::Cancelled => 499,
            Self::Limit | Self::Node | Self::StoredData | Self::Program => 500,
            Self::Remote => 502,
            Self::Storage => 503,
            Self::TimedOut => 504,
        }
    }

    /// Returns true if the same call may succeed later. `AgentError::is_retryable` also checks
    /// the error of a failed node.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Conflict | Self::TimedOut | Self::Storage)
    }
}
