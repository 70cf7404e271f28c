//! Calls of graphs by nodes.

use std::future::Future;

use langgraph_topology::hash::Fnv;

use super::function_call::FunctionCall;
use super::only_node::{call_only_node, is_update, only_node};
use super::subgraph::{CheckCall, SubgraphRun};
use crate::error::NodeError;
use crate::graph::CompiledStateGraph;
use crate::node::{Context, FinishedCall, IntoInput, Output};
use crate::state::State;
use crate::task::normalize_input;

/// The first number of calls with a key, after all numbers of calls in their order.
const KEYED_CALLS: usize = 1 << (usize::BITS - 2);

/// A call of a graph by a node; [`Context::call`] creates it.
#[must_use = "a call does nothing until it gets its input: write `.run(input)`"]
pub struct GraphCall<'a, S: State> {
    cx: &'a Context,
    graph: &'a CompiledStateGraph<S>,
    key: Option<usize>,
    check: Option<Box<CheckCall<S>>>,
    keep: Option<fn(&S) -> Option<S>>,
}

impl<'a, S: State> GraphCall<'a, S> {
    /// Returns the call as one of the graph's function, if it may be one.
    #[doc(hidden)]
    pub fn as_function(&self) -> Option<FunctionCall<'a, S>> {
        if self.keep.is_some() && self.cx.finished_calls().is_some() {
            return None;
        }
        let node = FunctionCall::node(self.graph, self.cx)?;
        Some(FunctionCall::new(self.graph, self.cx, self.number(), node))
    }

    /// Returns the number of the call, which takes its place in the order of the calls.
    fn number(&self) -> usize {
        self.key.unwrap_or_else(|| self.cx.next_call())
    }

    /// Identifies the call by a key instead of by the order of the calls, for calls whose order may differ when
    /// the node runs again. The keys of one task must differ.
    pub fn key(mut self, key: &str) -> Self {
        let mut hash = Fnv::new();
        hash.text(key);
        #[allow(clippy::cast_possible_truncation)] // any part of the hash identifies the key
        let number = hash.finish() as usize >> 2;
        self.key = Some(KEYED_CALLS | number);
        self
    }

    /// Checks the stored state of the call before it goes on where an earlier attempt of the node stopped. A node
    /// that took another course than before is caught here. The state is the initial one if the attempt stopped
    /// before the call had taken its input.
    pub fn check(
        mut self,
        check: impl Fn(&S) -> Result<(), NodeError> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Keeps the final state for another attempt of the node also where no log has it, as `copy` returns it. Without
    /// a copy, the graph runs again.
    #[doc(hidden)]
    pub fn keep(mut self, copy: fn(&S) -> Option<S>) -> Self {
        self.keep = Some(copy);
        self
    }

    /// Runs the graph and returns its final state. The order of the calls of `run` counts, not the order in which
    /// their futures are polled.
    ///
    /// # Errors
    ///
    /// As [`Context::run`], and the error of the [check](Self::check).
    pub fn run(self, input: impl IntoInput<S>) -> impl Future<Output = Result<S, NodeError>> {
        let number = self.number();
        let Self {
            cx,
            graph,
            check,
            keep,
            ..
        } = self;
        let kept = keep.and_then(|copy| Some((copy, FinishedCall::new(cx, number)?)));
        let input = input.into_output();
        async move {
            let input = input?;
            let Some((copy, finished)) = kept else {
                return call(cx, graph, number, input, check).await;
            };
            if let Some(state) = finished.state() {
                match check.as_ref().map_or(Ok(()), |check| check(&state)) {
                    Err(error) if finished.takes_same_course() => return Err(error),
                    Err(_) => {}
                    Ok(()) => return Ok(state),
                }
            }
            let state = call(cx, graph, number, input, check).await?;
            if let Some(copy) = copy(&state) {
                finished.keep(copy);
            }
            Ok(state)
        }
    }
}

/// Runs a graph in the task of `cx`, and returns its final state.
async fn call<S: State>(
    cx: &Context,
    graph: &CompiledStateGraph<S>,
    number: usize,
    mut input: Output<S>,
    check: Option<Box<CheckCall<S>>>,
) -> Result<S, NodeError> {
    let plan = &graph.plan;
    normalize_input(plan, &mut input);
    if is_update(graph, &input)
        && let Some(node) = only_node(graph, cx)
    {
        return call_only_node(graph, node, input, cx, number).await;
    }
    // Boxed: the future of a call is moved before it runs, and that of an engine is large.
    Box::pin(async move {
        let initial = plan.unwritten_state();
        let run = SubgraphRun::begin(graph, initial, input, cx, number, false)?;
        run.into_state(graph, cx, check.as_deref()).await
    })
    .await
}

impl<S: State> std::fmt::Debug for GraphCall<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphCall")
            .field("graph", self.graph)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Runs another graph inside this node and returns its final state.
    ///
    /// The graph shares this run's resources, limits, cancellation and event stream. If it pauses,
    /// this node pauses too: return the error with `?`.
    ///
    /// When the node runs again, after an interrupt or in another attempt, the graph goes on where it stopped, and one that
    /// has ended returns its state without running. The log of the thread has both: without a thread, another attempt runs
    /// the graph from its start.
    ///
    /// # Errors
    ///
    /// The error of the graph; the run reports it with the path to the inner node.
    pub fn run<'a, S: State>(
        &'a self,
        graph: &'a CompiledStateGraph<S>,
        input: impl IntoInput<S>,
    ) -> impl Future<Output = Result<S, NodeError>> {
        self.call(graph).run(input)
    }

    /// Prepares a call of another graph inside this node; see [`run`](Self::run).
    pub fn call<'a, S: State>(&'a self, graph: &'a CompiledStateGraph<S>) -> GraphCall<'a, S> {
        GraphCall {
            cx: self,
            graph,
            key: None,
            check: None,
            keep: None,
        }
    }
}
