//! Middleware around nodes.

use std::sync::Arc;

use serde_json::Value;

use crate::node::{Call, Context, NodeRun, Step};
use crate::state::State;

/// Code around one node or around all nodes of a graph: logs, measurements, checks.
///
/// Middleware receives the call instead of the node, and decides when, and whether, to run it. It
/// may change the output or return its own. The middleware added first is outermost, and that of
/// the graph wraps that of the node ([`NodeExt::middleware`](crate::graph::NodeExt::middleware)).
///
/// It wraps each attempt: retries, the error handler and the cache are outside, the node's time
/// limits are inside. So it sees a timeout, or a panic of the node, as an error. A subgraph is one
/// node; its own middleware wraps its nodes.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::node::NodeRun;
/// use langgraph::policy::{Middleware, NodeCall};
///
/// struct Print;
///
/// impl<S: State> Middleware<S> for Print {
///     fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
///         NodeRun::future(async move {
///             println!("{} starts, attempt {}", call.node(), call.attempt());
///             let answer = call.run().await;
///             println!("{} has {}", call.node(), if answer.is_ok() { "ended" } else { "failed" });
///             answer
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]).middleware(Print);
/// assert_eq!(graph.compile()?.invoke(2).await?, 4);
/// # Ok(())
/// # }
/// ```
pub trait Middleware<S: State>: Send + Sync + 'static {
    /// Runs instead of the node.
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S>;
}

impl<S: State, M: Middleware<S> + ?Sized> Middleware<S> for Arc<M> {
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
        (**self).around(call)
    }
}

impl<S, F> Middleware<S> for FnMiddleware<F>
where
    S: State,
    F: for<'a> Fn(NodeCall<'a, S>) -> NodeRun<'a, S> + Send + Sync + 'static,
{
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
        (self.0)(call)
    }
}

/// A closure as a [`Middleware`]; see [`middleware`].
pub struct FnMiddleware<F>(F);

impl_debug!([F] FnMiddleware<F>);

/// A closure as a [`Middleware`].
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::node::NodeRun;
/// use langgraph::policy::middleware;
///
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// graph.middleware(middleware(|call| {
///     println!("{} sees {}", call.node(), call.state());
///     call.run()
/// }));
/// ```
pub fn middleware<S, F>(around: F) -> FnMiddleware<F>
where
    S: State,
    F: for<'a> Fn(NodeCall<'a, S>) -> NodeRun<'a, S> + Send + Sync + 'static,
{
    FnMiddleware(around)
}

/// One attempt at a node, as its middleware receives it.
#[derive(Clone)]
pub struct NodeCall<'a, S: State> {
    call: Call<'a, S>,
    /// The remaining middleware.
    rest: &'a [Arc<dyn Middleware<S>>],
    /// The node inside its time limits.
    node: &'a dyn Step<S>,
}

impl<'a, S: State> NodeCall<'a, S> {
    pub(super) fn new(
        call: Call<'a, S>,
        rest: &'a [Arc<dyn Middleware<S>>],
        node: &'a dyn Step<S>,
    ) -> Self {
        Self { call, rest, node }
    }

    /// Returns the name of the node.
    pub fn node(&self) -> &'a str {
        self.call.cx.node()
    }

    /// Returns the superstep.
    pub fn step(&self) -> usize {
        self.call.cx.step()
    }

    /// Returns the number of this attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.call.cx.attempt()
    }

    /// Returns the node's input state.
    pub fn state(&self) -> &'a S {
        self.call.state
    }

    /// Returns its item as JSON, if it is a worker.
    pub fn item(&self) -> Option<Value> {
        self.call.item.and_then(|item| item.to_json().ok())
    }

    /// Returns the node's context.
    pub fn context(&self) -> &'a Context {
        self.call.cx
    }

    /// Runs the node, inside the middleware after this one.
    ///
    /// The node starts with this call, and continues while its output is awaited.
    pub fn run(&self) -> NodeRun<'a, S> {
        match self.rest.split_first() {
            Some((next, rest)) => next.around(Self { rest, ..*self }),
            None => self.node.call(self.call),
        }
    }
}

impl_debug!([S: State] NodeCall<'_, S>, |call|
    node = call.node(), step = call.step(), attempt = call.attempt());
