//! The position of a run.

use std::sync::Arc;

use crate::error::AgentError;
use crate::error::Failure;
use crate::graph::NodeKind;
use crate::graph::plan::Plan;
use crate::node::{NodeError, NodeId, Scope};
use crate::state::State;

/// The position of a run, for events and records.
pub(crate) struct Moment<'a, S: State> {
    pub(crate) plan: &'a Arc<Plan<S>>,
    pub(crate) scope: &'a Scope,
    pub(crate) state: &'a Arc<S>,
    /// The superstep, counted over the life of the thread.
    pub(crate) step: i64,
}

impl<S: State> Moment<'_, S> {
    /// Returns the superstep as nodes see it.
    pub(crate) fn shown_step(&self) -> usize {
        usize::try_from(self.step).unwrap_or(0)
    }

    /// Adds the place to the error of a node.
    pub(crate) fn failure(&self, node: NodeId, error: NodeError) -> AgentError {
        failure(self.plan, self.scope, node, error)
    }
}

/// Adds the place to the error of a node.
pub(crate) fn failure<S: State>(
    plan: &Plan<S>,
    scope: &Scope,
    node: NodeId,
    error: NodeError,
) -> AgentError {
    // A subgraph's error already says what failed and where.
    let error = match error.into_agent() {
        Ok(inner) => return inner,
        Err(error) => error,
    };
    let name = plan.name(node);
    let namespace = scope.namespace.to_vec();
    let source = Failure::from(error);
    let info = node
        .place()
        .and_then(|place| plan.topology.nodes.get(place));
    match info.map(|info| &info.kind) {
        Some(NodeKind::Remote { agent }) => AgentError::Remote {
            node: name,
            namespace,
            agent: agent.clone(),
            source,
        },
        _ => AgentError::Node {
            node: name,
            namespace,
            source,
        },
    }
}
