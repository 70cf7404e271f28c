//! What takes over when a node has failed.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;

use crate::node::{Context, IntoOutput, NodeError, NodeRun};
use crate::state::State;
use langgraph_topology::NodeName;

/// A failure that an error handler is given.
#[derive(Debug)]
#[non_exhaustive]
pub struct NodeFailure {
    /// The node that failed.
    pub node: NodeName,
    /// What its last attempt failed with.
    pub error: NodeError,
    /// How often it was tried.
    pub attempts: u32,
    /// The item it was given as JSON, if it is a worker.
    pub item: Option<Value>,
}

impl NodeFailure {
    pub(super) fn new(
        node: NodeName,
        error: NodeError,
        attempts: u32,
        item: Option<Value>,
    ) -> Self {
        Self {
            node,
            error,
            attempts,
            item,
        }
    }

    /// What a handler returns as its error when this failure is not one for it: the run then
    /// fails with the node's own error.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph::policy::{NodeFailure, NodeTimeout};
    ///
    /// async fn fall_back(state: &i64, failure: &NodeFailure) -> Result<i64, NodeError> {
    ///     if failure.error.is::<NodeTimeout>() {
    ///         Ok(-1)
    ///     } else {
    ///         Err(failure.unhandled())
    ///     }
    /// }
    /// ```
    pub fn unhandled(&self) -> NodeError {
        Unhandled(Arc::clone(&self.node)).into()
    }

    /// The error of the node instead of the handler's, when the handler wants that.
    pub(super) fn after(self, error: NodeError) -> NodeError {
        if error.is::<Unhandled>() {
            self.error
        } else {
            error
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the failure of `{0}` is not handled")]
struct Unhandled(NodeName);

/// What [`on_error`](crate::graph::NodeExt::on_error) takes: a function of the state that the node was
/// given, the [`NodeFailure`] and an optional [`Context`], async or not, that answers as a node
/// does. `K` only keeps the forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this is not an error handler of a graph over `{S}`",
    label = "not an error handler over `{S}`",
    note = "an error handler is a function `(&{S}, &NodeFailure)` or `(&{S}, &NodeFailure, &Context)`, async or not, that returns what a node returns"
)]
pub trait ErrorHandler<S: State, K>: Send + Sync + 'static {
    /// True when the answer can name the next node.
    const MAY_GOTO: bool;

    /// Takes over.
    fn handle<'a>(
        &'a self,
        state: &'a S,
        failure: &'a NodeFailure,
        cx: &'a Context,
    ) -> NodeRun<'a, S>;
}

/// An error handler as the runtime holds it.
pub(super) trait ErasedHandler<S: State>: Send + Sync {
    fn handle<'a>(
        &'a self,
        state: &'a S,
        failure: &'a NodeFailure,
        cx: &'a Context,
    ) -> NodeRun<'a, S>;
}

pub(super) struct Handler<H, K>(pub(super) H, pub(super) PhantomData<fn() -> K>);

impl<S: State, K, H: ErrorHandler<S, K>> ErasedHandler<S> for Handler<H, K> {
    fn handle<'a>(
        &'a self,
        state: &'a S,
        failure: &'a NodeFailure,
        cx: &'a Context,
    ) -> NodeRun<'a, S> {
        self.0.handle(state, failure, cx)
    }
}

macro_rules! shapes {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

shapes!(Async2 Async3 Sync2 Sync3);

/// An async handler whose future borrows what it is given.
#[doc(hidden)]
pub trait BorrowingHandler<'a, S: State, A>: Send + Sync + 'static {
    type Output: IntoOutput<S>;
    fn start(&'a self, arguments: A) -> impl Future<Output = Self::Output> + Send + 'a;
}

impl<'a, S, F, Fut> BorrowingHandler<'a, S, (&'a S, &'a NodeFailure)> for F
where
    S: State,
    F: Fn(&'a S, &'a NodeFailure) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutput<S>> + Send + 'a,
{
    type Output = Fut::Output;

    fn start(
        &'a self,
        (state, failure): (&'a S, &'a NodeFailure),
    ) -> impl Future<Output = Self::Output> + Send + 'a {
        self(state, failure)
    }
}

impl<'a, S, F, Fut> BorrowingHandler<'a, S, (&'a S, &'a NodeFailure, &'a Context)> for F
where
    S: State,
    F: Fn(&'a S, &'a NodeFailure, &'a Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutput<S>> + Send + 'a,
{
    type Output = Fut::Output;

    fn start(
        &'a self,
        (state, failure, cx): (&'a S, &'a NodeFailure, &'a Context),
    ) -> impl Future<Output = Self::Output> + Send + 'a {
        self(state, failure, cx)
    }
}

macro_rules! shape {
    (
        $shape:ty, [$($generic:ident)*], where { $($bound:tt)* }, output: $output:ty,
        |$function:ident, $state:ident, $failure:ident, $cx:ident| $body:expr
    ) => {
        impl<S: State, F, $($generic),*> ErrorHandler<S, ($shape, $($generic),*)> for F
        where $($bound)*
        {
            const MAY_GOTO: bool = <$output as IntoOutput<S>>::MAY_GOTO;

            fn handle<'a>(
                &'a self,
                $state: &'a S,
                $failure: &'a NodeFailure,
                $cx: &'a Context,
            ) -> NodeRun<'a, S> {
                let $function = self;
                $body
            }
        }
    };
}

shape!(Async2, [], where { F: for<'x> BorrowingHandler<'x, S, (&'x S, &'x NodeFailure)> },
    output: <F as BorrowingHandler<'static, S, (&'static S, &'static NodeFailure)>>::Output,
    |run, state, failure, _cx| NodeRun::future(run.start((state, failure))));

shape!(Async3, [], where { F: for<'x> BorrowingHandler<'x, S, (&'x S, &'x NodeFailure, &'x Context)> },
    output: <F as BorrowingHandler<'static, S, (&'static S, &'static NodeFailure, &'static Context)>>::Output,
    |run, state, failure, cx| NodeRun::future(run.start((state, failure, cx))));

shape!(Sync2, [O], where {
        F: Fn(&S, &NodeFailure) -> O + Send + Sync + 'static,
        O: IntoOutput<S> + 'static,
    },
    output: O,
    |run, state, failure, _cx| NodeRun::ready(run(state, failure)));

shape!(Sync3, [O], where {
        F: Fn(&S, &NodeFailure, &Context) -> O + Send + Sync + 'static,
        O: IntoOutput<S> + 'static,
    },
    output: O,
    |run, state, failure, cx| NodeRun::ready(run(state, failure, cx)));

impl<S: State> fmt::Debug for dyn ErasedHandler<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErrorHandler")
    }
}
