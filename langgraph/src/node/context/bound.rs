//! What the bounds of edges leave to a run.

use super::Context;
use crate::error::NodeError;

impl Context {
    /// Checks that this run may follow an edge so many times more, as its
    /// [bound](crate::graph::StateGraph::add_bound) says. Each send counts.
    ///
    /// A run that sends more items to a worker than the edge allows fails, and what its earlier nodes have stored
    /// stays. A node that prepares such sends for a later node checks the bound first: if it fails, nothing is stored
    /// that no later node takes up.
    ///
    /// An edge without a bound, or whose bound has an exit, may always be followed.
    ///
    /// # Errors
    ///
    /// [`AgentError::BoundReached`](crate::error::AgentError::BoundReached), as the run itself would fail.
    pub fn check_bound(&self, from: &str, to: &str, times: usize) -> Result<(), NodeError> {
        match &self.scope.bounds {
            Some(bounds) => bounds
                .check((from, to), times)
                .map_err(NodeError::from_agent),
            None => Ok(()),
        }
    }
}
