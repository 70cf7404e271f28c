//! The error of a node as the source of another.

use std::fmt;

use super::NodeError;

/// The error of a node, kept as it was.
pub struct Failure(pub(crate) NodeError);

impl Failure {
    /// The node's error.
    pub fn node_error(&self) -> &NodeError {
        &self.0
    }

    /// The first error of type `E` in the chain.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

/// An error of a node as one of [`std::error::Error`], to be the source of another.
///
/// An [`Agent`](crate::Agent) fails with it as one of its nodes would.
///
/// ```
/// use langgraph::{AgentError, NodeError};
///
/// fn failed(node: &str, error: NodeError) -> AgentError {
///     AgentError::Node { node: node.into(), namespace: Vec::new(), source: error.into() }
/// }
///
/// let error = failed("fetch", NodeError::msg("no connection"));
/// assert_eq!(error.to_string(), "node `fetch` failed: no connection");
/// ```
impl From<NodeError> for Failure {
    fn from(error: NodeError) -> Self {
        Self(error)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source().source()
    }
}
