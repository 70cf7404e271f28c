//! What the ready-made agents share when they run without a graph around them.

use langgraph::AgentError;
use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::node::NodeError;
use langgraph::state::State;

/// The graph of an agent; its mistakes would be the agent's.
pub(super) fn compiled<S: State>(
    graph: &StateGraph<S>,
) -> Result<CompiledStateGraph<S>, AgentError> {
    let errors = |errors: langgraph::graph::CompilationErrors| {
        AgentError::InvalidInput(format!("the agent's graph does not compile: {errors}"))
    };
    graph.compile().map_err(errors)
}

/// What the node of that name would have failed with.
pub(super) fn failed(node: &str, error: impl Into<NodeError>) -> AgentError {
    AgentError::Node {
        node: node.into(),
        namespace: Vec::new(),
        source: error.into().into(),
    }
}
