//! Workers: nodes with an item of their own.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use super::into_node::FnStep;
use super::{ConfiguredNode, NodeExt};
use crate::error::NodeError;
use crate::node::{
    Call, Context, ErasedItem, IntoOutput, Item, NodeMeta, NodeRun, OwnedFuture, Step, WorkerNode,
    item,
};
use crate::policy::{CachePolicy, ErrorHandler, Middleware, RetryPolicy};
use crate::state::{State, short_name};
use langgraph_topology::NodeKind;

/// What [`add_worker`](crate::StateGraph::add_worker) takes: a function whose first argument is
/// the item, by value, followed by an optional `&S` and an optional `&Context`; a closure that captures and takes
/// them by value; or a value of a type that implements [`WorkerNode`].
#[diagnostic::on_unimplemented(
    message = "this is not a worker that takes `{T}` in a graph over `{S}`",
    label = "not a worker that takes `{T}`",
    note = "a worker is a `#[node]` function `(item: {T})`, `(item: {T}, state: &{S})` or `(item: {T}, state: &{S}, cx: &Context)`",
    note = "a closure that captures takes all by value: `move |item: {T}, state: {S}, cx: Context| async move {{ .. }}`; a worker that holds something is `#[node] impl W {{ async fn run(&self, item: {T}, state: &{S}, cx: &Context) }}`",
    note = "it returns the state's update, `(update, Next)`, `Command<{S}>`, `{S}` itself or `()`, each also in a `Result`",
    note = "an async function that holds a `MutexGuard` or an `Rc` over an `.await` is not one: its future has to be `Send`; `#[node]` on the function shows the place"
)]
pub trait IntoWorker<S, T, K> {
    /// Converts into a worker with options.
    fn into_worker(self) -> ConfiguredWorker<S, T>
    where
        S: State;
}

/// A worker with options.
pub struct ConfiguredWorker<S: State, T> {
    pub(crate) node: ConfiguredNode<S>,
    item: PhantomData<fn(T)>,
}

impl<S: State, T> fmt::Debug for ConfiguredWorker<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConfiguredWorker").field(&self.node).finish()
    }
}

impl<S: State, T> ConfiguredWorker<S, T> {
    fn new(mut node: ConfiguredNode<S>) -> Self {
        node.info.kind = NodeKind::Worker;
        node.info.item = short_name::<T>();
        Self {
            node,
            item: PhantomData,
        }
    }

    /// Sets options as on any node: `worker(write_joke).with(|node| node.retry(3))`.
    #[must_use]
    pub fn with(self, options: impl FnOnce(ConfiguredNode<S>) -> ConfiguredNode<S>) -> Self {
        Self::new(options(self.node))
    }

    /// Retries the worker; as [`NodeExt::retry`].
    #[must_use]
    pub fn retry(self, policy: impl Into<RetryPolicy>) -> Self {
        self.with(|node| node.retry(policy))
    }

    /// Lets the worker run in another process; as [`NodeExt::anywhere`].
    #[must_use]
    pub fn anywhere(self) -> Self {
        self.with(NodeExt::anywhere)
    }

    /// Limits the time of each attempt; as [`NodeExt::timeout`].
    #[must_use]
    pub fn timeout(self, limit: std::time::Duration) -> Self {
        self.with(|node| node.timeout(limit))
    }

    /// Limits the time without progress; as [`NodeExt::idle_timeout`].
    #[must_use]
    pub fn idle_timeout(self, limit: std::time::Duration) -> Self {
        self.with(|node| node.idle_timeout(limit))
    }

    /// Caches outputs; as [`NodeExt::cache`]. The item is always part of the key.
    #[must_use]
    pub fn cache(self, policy: CachePolicy<S>) -> Self {
        self.with(|node| node.cache(policy))
    }

    /// Handles failures of the worker; as [`NodeExt::on_error`].
    #[must_use]
    pub fn on_error<K: 'static>(self, handler: impl ErrorHandler<S, K>) -> Self {
        self.with(|node| node.on_error(handler))
    }

    /// Wraps the worker in middleware; as [`NodeExt::middleware`].
    #[must_use]
    pub fn middleware(self, middleware: impl Middleware<S>) -> Self {
        self.with(|node| node.middleware(middleware))
    }
}

/// Converts a worker function into a value with options.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::graph::worker;
/// use langgraph::state::PlainUpdate;
///
/// # fn main() {
/// let mut graph = StateGraph::<u32>::new();
/// let square = worker(|n: u32, _: &u32| async move { PlainUpdate(Some(n * n)) }).retry(3);
/// let square = graph.add_worker("square", square);
/// graph.add_map(START, |state: &u32| vec![*state], &square);
/// # }
/// ```
pub fn worker<S: State, T, K>(worker: impl IntoWorker<S, T, K>) -> ConfiguredWorker<S, T> {
    worker.into_worker()
}

#[diagnostic::do_not_recommend]
impl<S: State, T> IntoWorker<S, T, ConfiguredWorker<S, T>> for ConfiguredWorker<S, T> {
    fn into_worker(self) -> Self {
        self
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByWorker {}

struct WorkerStep<W, T>(W, PhantomData<fn(T)>);

impl<S: State, T: Item, W: WorkerNode<S, T>> Step<S> for WorkerStep<W, T> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        match sent::<T, S>(&call) {
            Ok(item) => self.0.run(item, call.state, call.cx),
            Err(error) => NodeRun::ready(Err::<(), _>(error)),
        }
    }

    fn check_item(&self, sent: &dyn ErasedItem, node: &str) -> Result<(), NodeError> {
        item::<T>(sent, node).map(drop)
    }
}

#[diagnostic::do_not_recommend]
impl<S: State, T: Item, W: WorkerNode<S, T>> IntoWorker<S, T, ByWorker> for W {
    fn into_worker(self) -> ConfiguredWorker<S, T> {
        let (may_goto, docs) = (self.may_goto(), self.docs().map(str::to_owned));
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let writes = self.writes().map(owned);
        let needs = self.needs();
        let step = WorkerStep::<W, T>(self, PhantomData);
        let mut node = ConfiguredNode::new(Arc::new(step), may_goto);
        node.info.docs = docs;
        node.info.writes = writes;
        node.needs = needs;
        ConfiguredWorker::new(node)
    }
}

macro_rules! shapes {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

shapes!(Annotated AnnotatedState AnnotatedCx AnnotatedAll Async AsyncState AsyncAll AsyncOwnedState AsyncOwnedCx AsyncOwnedAll);

/// Marks an async worker whose future borrows the state or the context.
#[doc(hidden)]
pub trait BorrowingWorker<'a, S, T, A>: Send + Sync + 'static {
    type Output: IntoOutput<S>;
    fn start(&'a self, item: T, rest: A) -> impl Future<Output = Self::Output> + Send + 'a;
}

impl<'a, S, T, F, Fut> BorrowingWorker<'a, S, T, &'a S> for F
where
    F: Fn(T, &'a S) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutput<S>> + Send + 'a,
{
    type Output = Fut::Output;

    fn start(&'a self, item: T, state: &'a S) -> impl Future<Output = Self::Output> + Send + 'a {
        self(item, state)
    }
}

impl<'a, S, T, F, Fut> BorrowingWorker<'a, S, T, (&'a S, &'a Context)> for F
where
    F: Fn(T, &'a S, &'a Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutput<S>> + Send + 'a,
{
    type Output = Fut::Output;

    fn start(
        &'a self,
        item: T,
        (state, cx): (&'a S, &'a Context),
    ) -> impl Future<Output = Self::Output> + Send + 'a {
        self(item, state, cx)
    }
}

fn sent<T: Item, S: State>(call: &Call<'_, S>) -> Result<T, NodeError> {
    let node = call.cx.node();
    match call.item {
        Some(sent) => item(sent, node),
        None => Err(NodeError::msg(format!(
            "worker `{node}` was started without an item; start it with `Send::to(\"{node}\", item)`"
        ))),
    }
}

macro_rules! shape {
    (
        $shape:ty, [$($generic:ident)*], where { $($bound:tt)* },
        output: $output:ty, meta: $meta:expr,
        |$function:ident, $item:ident, $call:ident| $body:expr
    ) => {
        impl<S: State, T: Item, F, $($generic),*> Step<S> for FnStep<F, ($shape, T, $($generic),*)>
        where $($bound)*
        {
            fn call<'a>(&'a self, $call: Call<'a, S>) -> NodeRun<'a, S> {
                let $item = match sent::<T, S>(&$call) {
                    Ok(item) => item,
                    Err(error) => return NodeRun::ready(Err::<(), _>(error)),
                };
                let $function = &self.0;
                $body
            }

            fn check_item(&self, sent: &dyn ErasedItem, node: &str) -> Result<(), NodeError> {
                item::<T>(sent, node).map(drop)
            }
        }

        impl<S, T: Item, F, $($generic),*> IntoWorker<S, T, ($shape, $($generic),*)> for F
        where $($bound)*
        {
            fn into_worker(self) -> ConfiguredWorker<S, T>
            where
                S: State,
            {
                let step = Arc::new(FnStep::<F, ($shape, T, $($generic),*)>(self, PhantomData));
                let node = ConfiguredNode::new(step, <$output as IntoOutput<S>>::MAY_GOTO);
                let describe: fn(ConfiguredNode<S>) -> ConfiguredNode<S> = $meta;
                ConfiguredWorker::new(describe(node))
            }
        }
    };
}

shape!(Annotated, [O M], where {
        F: Fn(T) -> OwnedFuture<'static, O, M> + Send + Sync + 'static,
        O: IntoOutput<S> + 'static, M: NodeMeta,
    },
    output: O, meta: |node| node.described::<M>().without_state(),
    |run, item, _call| NodeRun::future(run(item).body));

shape!(AnnotatedState, [O M], where {
        F: for<'x> Fn(T, &'x S) -> OwnedFuture<'x, O, M> + Send + Sync + 'static,
        O: IntoOutput<S> + 'static, M: NodeMeta,
    },
    output: O, meta: ConfiguredNode::described::<M>,
    |run, item, call| NodeRun::future(run(item, call.state).body));

shape!(AnnotatedCx, [O M], where {
        F: for<'x> Fn(T, &'x Context) -> OwnedFuture<'x, O, M> + Send + Sync + 'static,
        O: IntoOutput<S> + 'static, M: NodeMeta,
    },
    output: O, meta: |node| node.described::<M>().without_state(),
    |run, item, call| NodeRun::future(run(item, call.cx).body));

shape!(AnnotatedAll, [O M], where {
        F: for<'x> Fn(T, &'x S, &'x Context) -> OwnedFuture<'x, O, M> + Send + Sync + 'static,
        O: IntoOutput<S> + 'static, M: NodeMeta,
    },
    output: O, meta: ConfiguredNode::described::<M>,
    |run, item, call| NodeRun::future(run(item, call.state, call.cx).body));

shape!(Async, [Fut], where {
        F: Fn(T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutput<S>> + Send + 'static,
    },
    output: Fut::Output, meta: |node| node,
    |run, item, _call| NodeRun::future(run(item)));

shape!(AsyncState, [], where { F: for<'x> BorrowingWorker<'x, S, T, &'x S> },
    output: <F as BorrowingWorker<'static, S, T, &'static S>>::Output, meta: |node| node,
    |run, item, call| NodeRun::future(run.start(item, call.state)));

shape!(AsyncAll, [], where { F: for<'x> BorrowingWorker<'x, S, T, (&'x S, &'x Context)> },
    output: <F as BorrowingWorker<'static, S, T, (&'static S, &'static Context)>>::Output, meta: |node| node,
    |run, item, call| NodeRun::future(run.start(item, (call.state, call.cx))));

shape!(AsyncOwnedState, [Fut], where {
        F: Fn(T, S) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutput<S>> + Send + 'static,
    },
    output: Fut::Output, meta: |node| node,
    |run, item, call| NodeRun::future(run(item, call.state.clone())));

shape!(AsyncOwnedCx, [Fut], where {
        F: Fn(T, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutput<S>> + Send + 'static,
    },
    output: Fut::Output, meta: |node| node,
    |run, item, call| NodeRun::future(run(item, call.cx.clone())));

shape!(AsyncOwnedAll, [Fut], where {
        F: Fn(T, S, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutput<S>> + Send + 'static,
    },
    output: Fut::Output, meta: |node| node,
    |run, item, call| NodeRun::future(run(item, call.state.clone(), call.cx.clone())));
