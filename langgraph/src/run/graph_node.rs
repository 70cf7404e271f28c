//! A compiled graph as a node of a graph over the same state.

use std::sync::Arc;

use super::subgraph::{SubgraphRun, finish};
use crate::error::NodeError;
use crate::graph::copies::copy_of;
use crate::graph::{CompiledStateGraph, ConfiguredNode, IntoNode, NodeKind};
use crate::node::{AgentGraph, Call, GraphNode, NodeRun, Output, Persistence, Step};
use crate::state::State;
use crate::task::normalize_input;

/// A compiled graph as a node of a graph over the same state.
struct SameState<S: State>(CompiledStateGraph<S>);

impl<S: State> SameState<S> {
    async fn run(&self, call: Call<'_, S>) -> Result<Output<S>, NodeError> {
        let plan = &self.0.plan;
        let (state, input) = match self.0.persistence {
            // It has a state of its own, and gets the parent's state as its input.
            Persistence::PerThread(_) if call.cx.place().is_some() => {
                let mut input = Output::update(call.state.clone().into());
                normalize_input(plan, &mut input);
                (plan.unwritten_state(), input)
            }
            _ => (call.tracked_state(), Output::none()),
        };
        let mut run =
            SubgraphRun::begin(&self.0, state, input, call.cx, call.cx.next_call(), true)?;
        let parent = run.run(&self.0.persistence, call.cx, None).await?;
        let changes = run.engine.changes.take();
        finish(parent, changes.unwrap_or_default().into_writes(), call)
    }
}

impl<S: State> Step<S> for SameState<S> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        NodeRun::future(self.run(call))
    }

    fn graph(&self) -> Option<GraphNode<'_>> {
        Some(GraphNode {
            graph: &self.0,
            shares_state: true,
        })
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByGraph {}

#[diagnostic::do_not_recommend]
impl<S: State> IntoNode<S, ByGraph> for CompiledStateGraph<S> {
    fn into_node(self) -> ConfiguredNode<S> {
        AgentGraph::from(self).into()
    }
}

impl<S: State> From<CompiledStateGraph<S>> for AgentGraph<S> {
    fn from(graph: CompiledStateGraph<S>) -> Self {
        Self {
            kind: NodeKind::Subgraph(Box::new(copy_of(graph.topology()))),
            unstorable: graph.unstorable(),
            step: Arc::new(SameState(graph)),
        }
    }
}

impl<S: State> CompiledStateGraph<S> {
    /// Returns the state type, of this graph or of a subgraph, that cannot be stored as bytes.
    pub(super) fn unstorable(&self) -> Option<&'static str> {
        if self.codec.or_else(S::codec).is_none() {
            return Some(std::any::type_name::<S>());
        }
        self.plan.unstorable.as_ref().map(|(_, state)| *state)
    }
}
