//! Errors of nodes as sources of other errors.

use std::fmt;

use super::NodeError;

/// The original error of a node.
pub struct Failure(NodeError);

impl Failure {
    /// Returns the node's error.
    pub fn node_error(&self) -> &NodeError {
        &self.0
    }

    /// Returns the first error of type `E` in the chain of sources.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

/// Wraps an error of a node as a [`std::error::Error`], for use as a source.
///
/// An `Agent` uses it to fail like one of its nodes.
///
/// ```
/// use langgraph::error::{AgentError, NodeError};
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
