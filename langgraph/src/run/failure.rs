//! The error of a node as the error of its run.

use super::machine::Machine;
use crate::AgentError;
use crate::error::Failure;
use crate::graph::NodeKind;
use crate::node::NodeError;
use crate::state::State;

impl<S: State> Machine<S> {
    /// The error of a node, with where it happened.
    pub(crate) fn failure(&self, node: usize, error: NodeError) -> AgentError {
        // A graph inside has said already what failed where.
        match error.into_agent() {
            Ok(inner) => inner,
            Err(error) => {
                let name = self.plan.node_name(node);
                let namespace = self.scope.namespace.to_vec();
                let source = Failure(error);
                match self.plan.topology.nodes.get(node).map(|node| &node.kind) {
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
        }
    }
}
