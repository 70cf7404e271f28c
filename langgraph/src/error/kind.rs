//! What kind of error a run ended with.

use super::{AgentError, InvalidUpdate, SubgraphError, WrittenBy, is_transient};
use crate::checkpoint::CheckpointError;
use langgraph_topology::NodeName;

/// What kind of error a run ended with: what a caller decides by.
///
/// [`AgentError::kind`] says it.
///
/// # Examples
///
/// ```
/// use langgraph::{AgentError, ErrorKind};
///
/// let kind = AgentError::Cancelled.kind();
/// assert_eq!(kind, ErrorKind::Cancelled);
/// assert_eq!((kind.code(), kind.http_status(), kind.is_retryable()), ("cancelled", 499, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another run has the thread, or has written to it meanwhile.
    Conflict,
    /// There is something of that name already.
    AlreadyExists,
    /// There is no such thread, checkpoint, question or graph.
    NotFound,
    /// The answer to a question has the wrong form. The question waits for another.
    RefusedAnswer,
    /// What the caller gave does not fit.
    InvalidInput,
    /// The run reached its step limit.
    Limit,
    /// The caller cancelled the run.
    Cancelled,
    /// The run took longer than it may.
    TimedOut,
    /// The run waits for an answer, and the caller wanted its result.
    Interrupted,
    /// A node failed.
    Node,
    /// A remote agent failed, or could not be reached.
    Remote,
    /// The storage of threads failed.
    Storage,
    /// What a thread holds cannot be read, or a value cannot be stored.
    StoredData,
    /// The graph, or the program around it, has a mistake.
    Program,
}

impl ErrorKind {
    /// The kind as a word for logs, metrics and clients. It stays the same from version to version.
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

    /// The HTTP status that fits.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::InvalidInput => 400,
            Self::NotFound => 404,
            Self::Conflict | Self::AlreadyExists | Self::Interrupted => 409,
            Self::RefusedAnswer => 422,
            // What nginx logs when the client closes the connection.
            Self::Cancelled => 499,
            Self::Limit | Self::Node | Self::StoredData | Self::Program => 500,
            Self::Remote => 502,
            Self::Storage => 503,
            Self::TimedOut => 504,
        }
    }

    /// True when the same call may succeed later. [`AgentError::is_retryable`] knows more: it also
    /// looks at what a node failed with.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Conflict | Self::TimedOut | Self::Storage)
    }
}

impl AgentError {
    /// What kind of error it is.
    ///
    /// # Examples
    ///
    /// A service answers with the status of the kind:
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("fail", |_: &i64| Err::<i64, _>(NodeError::msg("no"))).add_sequence(&["fail"]);
    ///
    /// let error = graph.compile()?.invoke(1).await.unwrap_err();
    /// assert_eq!((error.kind().code(), error.kind().http_status()), ("node", 500));
    /// # Ok(())
    /// # }
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Node { .. } | Self::Agent { .. } if self.refused_answer().is_some() => {
                ErrorKind::RefusedAnswer
            }
            Self::Node { .. } | Self::Agent { .. } => ErrorKind::Node,
            Self::Interrupted(_) => ErrorKind::Interrupted,
            Self::StepLimit { .. } => ErrorKind::Limit,
            Self::InvalidUpdate(error) => error.kind(),
            Self::Checkpoint(error) => error.kind(),
            Self::Subgraph(error) => error.kind(),
            Self::Remote { .. } => ErrorKind::Remote,
            Self::InvalidInput(_) => ErrorKind::InvalidInput,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::TimedOut(_) => ErrorKind::TimedOut,
            Self::Routing { .. }
            | Self::InvalidOption(_)
            | Self::NoParent { .. }
            | Self::NoRuntime(_) => ErrorKind::Program,
        }
    }

    /// True when the same call may succeed later: its [kind](Self::kind) says so, or a node failed
    /// with an error that [may pass](crate::policy::is_transient).
    pub fn is_retryable(&self) -> bool {
        self.kind().is_retryable() || self.node_error().is_some_and(is_transient)
    }

    /// The node that the error is about, if it is about one.
    pub fn node(&self) -> Option<&NodeName> {
        match self {
            Self::Node { node, .. } | Self::Remote { node, .. } | Self::Routing { node, .. } => {
                Some(node)
            }
            Self::InvalidUpdate(error) => error.node(),
            _ => None,
        }
    }

    /// The nodes around the graph of the [node](Self::node), outermost first; empty at the root.
    pub fn namespace(&self) -> &[NodeName] {
        match self {
            Self::Node { namespace, .. } | Self::Remote { namespace, .. } => namespace,
            _ => &[],
        }
    }
}

impl InvalidUpdate {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Reducer {
                writer: WrittenBy::Input | WrittenBy::External,
                ..
            } => ErrorKind::InvalidInput,
            Self::Conflict { .. }
            | Self::Overwrites { .. }
            | Self::WholeState { .. }
            | Self::Panicked { .. }
            | Self::Reducer { .. } => ErrorKind::Program,
        }
    }

    fn node(&self) -> Option<&NodeName> {
        match self {
            Self::WholeState { node, .. }
            | Self::Panicked {
                writer: WrittenBy::Node(node),
                ..
            }
            | Self::Reducer {
                writer: WrittenBy::Node(node),
                ..
            } => Some(node),
            _ => None,
        }
    }
}

impl CheckpointError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Conflict { .. } | Self::Held { .. } | Self::LeaseLost { .. } => {
                ErrorKind::Conflict
            }
            Self::ThreadExists(_) => ErrorKind::AlreadyExists,
            Self::UnknownThread(_)
            | Self::UnknownCheckpoint { .. }
            | Self::NothingToResume { .. } => ErrorKind::NotFound,
            Self::AmbiguousResume { .. } | Self::EmptyUpdate | Self::InvalidUpdate(_) => {
                ErrorKind::InvalidInput
            }
            Self::Storage(_) => ErrorKind::Storage,
            Self::Corrupt(_)
            | Self::Format(_)
            | Self::Unwritable { .. }
            | Self::Unreadable { .. }
            | Self::UnknownNode { .. }
            | Self::WrongType(_) => ErrorKind::StoredData,
            Self::NoThread
            | Self::NoCheckpointer(_)
            | Self::NotStorable { .. }
            | Self::NoLeases { .. }
            | Self::NoAdministration { .. }
            | Self::SubgraphNotStorable { .. } => ErrorKind::Program,
        }
    }
}

impl SubgraphError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownNode { .. }
            | Self::NoGraph { .. }
            | Self::NoSuchTask { .. }
            | Self::NotStarted { .. } => ErrorKind::NotFound,
            Self::EmptyPath { .. }
            | Self::WrongState { .. }
            | Self::KeepsNothing { .. }
            | Self::SeveralTasks { .. }
            | Self::Ended { .. }
            | Self::NotOfACheckpoint { .. }
            | Self::PartOfThread { .. }
            | Self::NotKept { .. } => ErrorKind::InvalidInput,
        }
    }
}

#[cfg(test)]
mod tests;
