//! What the ready-made agents share when they run without a graph around them.

use crate::AgentError;
use crate::error::Failure;
use crate::graph::{CompiledStateGraph, StateGraph};
use crate::node::NodeError;
use crate::state::State;

/// The graph of an agent; its mistakes would be the agent's.
pub(super) fn compiled<S: State>(
    graph: &StateGraph<S>,
) -> Result<CompiledStateGraph<S>, AgentError> {
    let errors = |errors: crate::graph::CompilationErrors| {
        AgentError::InvalidInput(format!("the agent's graph does not compile: {errors}"))
    };
    graph.compile().map_err(errors)
}

/// What the node of that name would have failed with.
pub(super) fn failed(node: &str, error: impl Into<NodeError>) -> AgentError {
    AgentError::Node {
        node: node.into(),
        namespace: Vec::new(),
        source: Failure(error.into()),
    }
}
