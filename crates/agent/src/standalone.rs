//! What the ready-made agents share when they run outside of a graph.

use langgraph::error::{AgentError, NodeError};
use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::state::State;

/// Compiles the graph of an agent. A mistake in it is a bug of the agent.
pub(super) fn compiled<S: State>(
    graph: &StateGraph<S>,
) -> Result<CompiledStateGraph<S>, AgentError> {
    let errors = |errors: langgraph::graph::CompilationErrors| {
        AgentError::InvalidInput(format!("the agent's graph does not compile: {errors}"))
    };
    graph.compile().map_err(errors)
}

/// The error with which the node of that name would have failed.
pub(super) fn failed(node: &str, error: impl Into<NodeError>) -> AgentError {
    AgentError::Node {
        node: node.into(),
        namespace: Vec::new(),
        source: error.into().into(),
    }
}
