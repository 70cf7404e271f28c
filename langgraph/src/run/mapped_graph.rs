//! A compiled graph as a node of a graph over another state.

use std::sync::Arc;

use super::graph_node::ByGraph;
use super::subgraph::{SubgraphRun, finish};
use crate::error::NodeError;
use crate::graph::copies::copy_of;
use crate::graph::{CompiledStateGraph, ConfiguredNode, IntoNode, NodeKind};
use crate::node::{Call, GraphNode, IntoOutput, NodeRun, Output, Step};
use crate::state::{State, Writes};
use crate::task::normalize_input;

/// A compiled graph as a node of a graph over another state; see
/// [`CompiledStateGraph::mapped`].
#[derive(Clone)]
pub struct MappedGraph<S: State, P: State> {
    graph: CompiledStateGraph<S>,
    #[allow(clippy::type_complexity)]
    into: Arc<dyn Fn(&P) -> Result<Output<S>, NodeError> + Send + Sync>,
    #[allow(clippy::type_complexity)]
    back: Arc<dyn Fn(S) -> Result<Output<P>, NodeError> + Send + Sync>,
    /// Whether the output of `back` can name the next node.
    may_goto: bool,
}

impl<S: State> CompiledStateGraph<S> {
    /// Makes this graph a node of a graph over `P`: `into` makes its input from the outer state,
    /// `back` makes the node's output from its final state.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut length = StateGraph::<i64>::new();
    /// length.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
    /// let length = length.compile()?;
    ///
    /// let mut outer = StateGraph::<String>::new();
    /// let node = length.mapped(|text: &String| text.len() as i64, |n| n.to_string());
    /// outer.add_node("length", node).add_sequence(&["length"]);
    /// assert_eq!(outer.compile()?.invoke("four".to_owned()).await?, "8");
    /// # Ok(())
    /// # }
    /// ```
    pub fn mapped<P, I, O>(
        &self,
        into: impl Fn(&P) -> I + Send + Sync + 'static,
        back: impl Fn(S) -> O + Send + Sync + 'static,
    ) -> MappedGraph<S, P>
    where
        P: State,
        I: IntoOutput<S>,
        O: IntoOutput<P>,
    {
        MappedGraph {
            graph: self.clone(),
            into: Arc::new(move |outer| into(outer).into_output()),
            back: Arc::new(move |state| back(state).into_output()),
            may_goto: O::MAY_GOTO,
        }
    }
}

impl<S: State, P: State> MappedGraph<S, P> {
    async fn run(&self, call: Call<'_, P>) -> Result<Output<P>, NodeError> {
        let mut input = (self.into)(call.state)?;
        let plan = &self.graph.plan;
        normalize_input(plan, &mut input);
        let state = plan.unwritten_state();
        let mut run = SubgraphRun::begin(
            &self.graph,
            state,
            input,
            call.cx,
            call.cx.next_call(),
            false,
        )?;
        let parent = run.run(&self.graph.persistence, call.cx, None).await?;
        // A paused graph has no result yet.
        let command = finish(parent, Writes::None, call)?;
        let mut output = (self.back)(run.engine.into_state())?;
        output.writes.extend(command.writes);
        output.jump = output.jump.and(command.jump);
        Ok(output)
    }
}

impl<S: State, P: State> Step<P> for MappedGraph<S, P> {
    fn call<'a>(&'a self, call: Call<'a, P>) -> NodeRun<'a, P> {
        NodeRun::future(self.run(call))
    }

    fn graph(&self) -> Option<GraphNode<'_>> {
        Some(GraphNode {
            graph: &self.graph,
            shares_state: false,
        })
    }
}

#[diagnostic::do_not_recommend]
impl<S: State, P: State> IntoNode<P, ByGraph> for MappedGraph<S, P> {
    fn into_node(self) -> ConfiguredNode<P> {
        let kind = NodeKind::Subgraph(Box::new(copy_of(self.graph.topology())));
        let may_goto = self.may_goto;
        let unstorable = self.graph.unstorable();
        ConfiguredNode::new(Arc::new(self), may_goto)
            .with_kind(kind)
            .unstorable(unstorable)
    }
}

impl_debug!([S: State, P: State] MappedGraph<S, P>, |graph| graph = graph.graph);
