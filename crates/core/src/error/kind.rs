//! Kinds of errors.

use super::{AgentError, CheckpointError, ErrorKind, InvalidUpdate, WrittenBy, is_transient};
use langgraph_topology::NodeName;

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
            Self::Node { .. } | Self::Agent { .. } | Self::Remote { .. }
                if self.refused_answer().is_some() =>
            {
                ErrorKind::RefusedAnswer
            }
            Self::Node { .. } | Self::Agent { .. } => ErrorKind::Node,
            Self::Interrupted(_) | Self::InterruptsOpen { .. } => ErrorKind::Interrupted,
            Self::StepLimit { .. } | Self::BoundReached { .. } => ErrorKind::Limit,
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
            | Self::Panicked(_)
            | Self::NoRuntime(_) => ErrorKind::Program,
        }
    }

    /// Returns true if the same call may succeed later, because of its [kind](Self::kind) or
    /// because a node failed with a [transient](is_transient) error.
    pub fn is_retryable(&self) -> bool {
        self.kind().is_retryable() || self.node_error().is_some_and(is_transient)
    }

    /// Returns the node of the error, if it has one.
    pub fn node(&self) -> Option<&NodeName> {
        match self {
            Self::Node { node, .. }
            | Self::Remote { node, .. }
            | Self::Routing { node, .. }
            | Self::BoundReached { from: node, .. } => Some(node),
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
    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Conflict { .. }
            | Self::BaseGone { .. }
            | Self::Held { .. }
            | Self::LeaseLost { .. } => ErrorKind::Conflict,
            Self::ThreadExists(_)
            | Self::OtherGraph { .. }
            | Self::WrongType { graph: Some(_), .. } => ErrorKind::AlreadyExists,
            Self::UnknownThread(_)
            | Self::UnknownCheckpoint { .. }
            | Self::NothingToResume { .. } => ErrorKind::NotFound,
            Self::AmbiguousResume { .. }
            | Self::InvalidThread { .. }
            | Self::EmptyUpdate
            | Self::InvalidUpdate(_) => ErrorKind::InvalidInput,
            Self::Storage(_) => ErrorKind::Storage,
            Self::Corrupt(_)
            | Self::Format(_)
            | Self::Unwritable { .. }
            | Self::Unreadable { .. }
            | Self::UnknownNode { .. }
            | Self::WrongType { .. } => ErrorKind::StoredData,
            Self::NoThread
            | Self::NoCheckpointer(_)
            | Self::InterruptsUnkept(_)
            | Self::NotStorable { .. }
            | Self::LongPath { .. }
            | Self::NoLeases { .. }
            | Self::NoAdministration { .. }
            | Self::SubgraphNotStorable { .. } => ErrorKind::Program,
        }
    }
}

#[cfg(test)]
mod tests;
