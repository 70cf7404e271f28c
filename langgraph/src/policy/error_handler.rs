//! Error handlers of nodes.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;

use crate::error::NodeError;
use crate::node::{Context, IntoOutput, NodeRun};
use crate::state::State;
use langgraph_topology::NodeName;

/// The failure that an error handler receives.
#[derive(Debug)]
#[non_exhaustive]
pub struct NodeFailure {
    /// The node that failed.
    pub node: NodeName,
    /// The error of its last attempt.
    pub error: NodeError,
    /// The number of attempts.
    pub attempts: u32,
    /// Its item as JSON, if it is a worker.
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

    /// Returns the error of a handler that does not handle this failure: the run then fails with
    /// the node's own error.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph::policy::NodeFailure;
    /// use langgraph::error::NodeTimeout;
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

    /// Returns the node's error instead of the handler's, if the handler has declined.
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

/// What [`on_error`](crate::graph::NodeExt::on_error) takes: a function of the node's input state,
/// the [`NodeFailure`] and an optional [`Context`], async or not, that returns what a node may
/// return. `K` only separates these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this is not an error handler of a graph over `{S}`",
    label = "not an error handler over `{S}`",
    note = "an error handler is a function `(&{S}, &NodeFailure)` or `(&{S}, &NodeFailure, &Context)`, async or not, that returns what a node returns"
)]
pub trait ErrorHandler<S: State, K>: Send + Sync + 'static {
    /// True if the output can name the next node.
    const MAY_GOTO: bool;

    /// Handles the failure.
    fn handle<'a>(
        &'a self,
        state: &'a S,
        failure: &'a NodeFailure,
        cx: &'a Context,
    ) -> NodeRun<'a, S>;
}

/// An erased error handler.
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

/// Marks an async handler whose future borrows its arguments.
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
