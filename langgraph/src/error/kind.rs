//! Kinds of errors.

use super::{AgentError, InvalidUpdate, SubgraphError, WrittenBy, is_transient};
use crate::checkpoint::CheckpointError;
use langgraph_topology::NodeName;

/// The kind of error that a run ended with, on which a caller can decide.
///
/// [`AgentError::kind`] returns it.
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
    /// The run reached its step limit.
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

    /// Returns true if the same call may succeed later. [`AgentError::is_retryable`] also checks
    /// the error of a failed node.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Conflict | Self::TimedOut | Self::Storage)
    }
}

impl AgentError {
    /// Returns the kind of the error.
    ///
    /// # Examples
    ///
    /// A service that answers with the status of the kind:
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
            Self::Interrupted(_) | Self::QuestionsOpen { .. } => ErrorKind::Interrupted,
            Self::StepLimit { .. } => ErrorKind::Limit,
            Self::InvalidUpdate(error) => error.kind(),
            Self::Checkpoint(error) => error.kind(),
            Self::Subgraph(error) => error.kind(),
            Self::Remote { .. } => ErrorKind::Remote,
            Self::InvalidInput(_) => ErrorKind::InvalidInput,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::TimedOut(_) => ErrorKind::TimedOut,
            Self::JoinedRun { kind, .. } => *kind,
            Self::Routing { .. }
            | Self::InvalidOption(_)
            | Self::NoParent { .. }
            | Self::NoRuntime(_) => ErrorKind::Program,
        }
    }

    /// Returns true if the same call may succeed later, because of its [kind](Self::kind) or
    /// because a node failed with a [transient](crate::policy::is_transient) error.
    pub fn is_retryable(&self) -> bool {
        self.kind().is_retryable() || self.node_error().is_some_and(is_transient)
    }

    /// Returns the node of the error, if it has one.
    pub fn node(&self) -> Option<&NodeName> {
        match self {
            Self::Node { node, .. } | Self::Remote { node, .. } | Self::Routing { node, .. } => {
                Some(node)
            }
            Self::InvalidUpdate(error) => error.node(),
            _ => None,
        }
    }

    /// Returns the path of nodes to the graph of the [node](Self::node), outermost first; empty at
    /// the root.
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
            | Self::WrongType { .. } => ErrorKind::StoredData,
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
