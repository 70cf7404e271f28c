//! Calls of graphs of one node as calls of its function.

use std::future::Future;

use super::only_node::{OnlyNodeCall, only_node};
use crate::error::NodeError;
use crate::graph::CompiledStateGraph;
use crate::node::{Context, NodeId, catch};
use crate::state::State;
use crate::task::without_interrupt;

/// A call of a graph whose only node is a function without policies, in a run that nothing observes.
///
/// A task of the functional form knows the function, and calls it with its own types: arguments and result need
/// not become fields of a state. `crates/functional/benches/check.sh` counts what this saves.
#[derive(Debug)]
#[must_use = "a call does nothing until it begins"]
pub struct FunctionCall<'a, S: State> {
    graph: &'a CompiledStateGraph<S>,
    cx: &'a Context,
    number: usize,
    node: NodeId,
}

impl<'a, S: State> FunctionCall<'a, S> {
    /// Returns the only node of a graph, if a call of it may be one of its function.
    pub(super) fn node(graph: &CompiledStateGraph<S>, cx: &Context) -> Option<NodeId> {
        let node = only_node(graph, cx)?;
        let is_function = graph.plan.node(node)?.step.is_function();
        is_function.then_some(node)
    }

    pub(super) const fn new(
        graph: &'a CompiledStateGraph<S>,
        cx: &'a Context,
        number: usize,
        node: NodeId,
    ) -> Self {
        Self {
            graph,
            cx,
            number,
            node,
        }
    }

    /// Begins the call.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn begin(self) -> Result<BegunCall<'a, S>, NodeError> {
        let call = OnlyNodeCall::begin(self.graph, self.node, self.cx, self.number)?;
        Ok(BegunCall(call))
    }
}

/// A [`FunctionCall`] that has begun.
#[must_use = "a call has no result until it ends"]
pub struct BegunCall<'a, S: State>(OnlyNodeCall<'a, S>);

impl<S: State> BegunCall<'_, S> {
    /// Returns the context for the function.
    pub const fn context(&self) -> &Context {
        &self.0.inner
    }

    /// Runs the future of the function to its end. Its errors, panics and interrupts are those of the node.
    ///
    /// # Errors
    ///
    /// As [`GraphCall::run`](super::GraphCall::run).
    pub async fn end<T>(
        &self,
        function: impl Future<Output = Result<T, NodeError>> + Unpin,
    ) -> Result<T, NodeError> {
        match catch(|| function).await {
            Ok(value) if !self.0.inner.has_open_interrupt() => Ok(value),
            answer => Box::pin(self.end_without_value(answer)).await,
        }
    }

    #[cold]
    async fn end_without_value<T>(&self, answer: Result<T, NodeError>) -> Result<T, NodeError> {
        match without_interrupt(answer, &self.0.inner) {
            Ok(value) => Ok(value),
            Err(result) => {
                let state = self.0.graph.plan.initial.clone();
                self.0.go_on(state, result).await?;
                Err(NodeError::msg("the function has ended without a value"))
            }
        }
    }
}

impl_debug!([S: State] BegunCall<'_, S>, |call| context = call.context());
