//! Conversions into nodes.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use super::ConfiguredNode;
use crate::node::{
    Agent, AgentGraph, Annotated, Call, Context, EachStep, IntoOutput, Node, NodeFuture, NodeMeta,
    NodeRun, OwnedFuture, Step,
};
use crate::state::State;
use langgraph_topology::NodeKind;

/// What [`add_node`](crate::StateGraph::add_node) takes.
///
/// A `#[node]` function, an async or a plain function or closure over `S` or `&S` and an optional
/// `&Context`, an [`Agent`], a [`Node`] (also boxed or shared), a compiled graph over `S`, and each
/// of these with options. `K` only separates these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this is not a node of a graph over `{S}`",
    label = "not a node over `{S}`",
    note = "a node is a `#[node]` function that takes `&{S}`, another function or closure over it, or a value of a type that implements `Node<{S}>`",
    note = "an `async` closure that captures is not one: write `move |state: {S}| async move {{ .. }}` or `move |state: {S}, cx: Context| async move {{ .. }}`, which take what they need by value",
    note = "an async function that holds a `MutexGuard` or an `Rc` over an `.await` is not one: its future has to be `Send`; `#[node]` on the function shows the place, and shows an answer of the wrong type too",
    note = "a function whose first argument is an item is a worker: `worker(f)` makes it a value with options, and `for item in items {{ f(item) }}` runs it"
)]
pub trait IntoNode<S, K> {
    /// Converts into a node with options.
    fn into_node(self) -> ConfiguredNode<S>
    where
        S: State;
}

// This impl and those of other types carry `do_not_recommend`: otherwise rustc would list all of
// them under every wrong node, and the note on the trait explains it better.
#[diagnostic::do_not_recommend]
impl<S: State> IntoNode<S, ConfiguredNode<S>> for ConfiguredNode<S> {
    fn into_node(self) -> ConfiguredNode<S> {
        self
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByNode {}

struct NodeStep<N>(N);

impl<S: State, N: Node<S>> Step<S> for NodeStep<N> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        self.0.run(call.state, call.cx)
    }
}

impl<S: State, N: Node<S>> IntoNode<S, ByNode> for N {
    fn into_node(self) -> ConfiguredNode<S> {
        let (may_goto, docs) = (self.may_goto(), self.docs().map(str::to_owned));
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let writes = self.writes().map(owned);
        let agent = self.remote_agent().map(str::to_owned);
        let interrupts = self.may_interrupt();
        let needs = self.needs();
        let tools = self.tools();
        let keys = self.keys();
        let each = self.each_item();
        let items = each.as_ref().map(|each| Arc::clone(&each.items));
        let mut step: Arc<dyn Step<S>> = Arc::new(NodeStep(self));
        if let Some(each) = each {
            step = Arc::new(EachStep { whole: step, each });
        }
        let mut node = ConfiguredNode::new(step, may_goto);
        node.items = items;
        if let Some(agent) = agent {
            node.info.kind = NodeKind::Remote { agent };
        }
        node.info.docs = docs;
        node.info.writes = writes;
        node.info.interrupts = interrupts;
        node.info.tools = tools;
        node.info.keys = keys;
        node.needs = needs;
        node
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByAgent {}

struct AgentStep<A>(A);

impl<A: Agent> Step<A::State> for AgentStep<A> {
    fn call<'a>(&'a self, call: Call<'a, A::State>) -> NodeRun<'a, A::State> {
        let state = call.state.clone();
        NodeRun::future(async move {
            let answer = self.0.run(state).await;
            answer.map_err(|error| error.of_agent(self.0.name()))
        })
    }
}

impl<A: Agent> IntoNode<A::State, ByAgent> for A {
    fn into_node(self) -> ConfiguredNode<A::State> {
        match self.as_graph() {
            Some(graph) => graph.into(),
            None => ConfiguredNode::new(Arc::new(AgentStep(self)), false),
        }
    }
}

impl<S: State> From<AgentGraph<S>> for ConfiguredNode<S> {
    fn from(graph: AgentGraph<S>) -> Self {
        Self::new(graph.step, false)
            .with_kind(graph.kind)
            .unstorable(graph.unstorable)
    }
}

/// A function as a node; `K` is the shape of the function.
pub(super) struct FnStep<F, K>(pub(super) F, pub(super) PhantomData<fn() -> K>);

/// The shapes of functions. A shape is only used as a type parameter.
macro_rules! shapes {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

shapes!(NodeRef NodeRefCx NodeVal NodeValCx AsyncRef AsyncRefCx AsyncVal AsyncValCx AsyncOwnedCx SyncRef SyncRefCx SyncVal SyncValCx);

/// Marks an async function whose future borrows its argument: the future's type depends on the
/// lifetime.
#[doc(hidden)]
pub trait BorrowingFn<'a, S, A>: Send + Sync + 'static {
    type Output: IntoOutput<S>;
    fn start(&'a self, argument: A) -> impl Future<Output = Self::Output> + Send + 'a;
}

impl<'a, S, F, Fut> BorrowingFn<'a, S, &'a S> for F
where
    F: Fn(&'a S) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutput<S>> + Send + 'a,
{
    type Output = Fut::Output;

    fn start(&'a self, state: &'a S) -> impl Future<Output = Self::Output> + Send + 'a {
        self(state)
    }
}

impl<'a, S, F, Fut> BorrowingFn<'a, S, (&'a S, &'a Context)> for F
where
    F: Fn(&'a S, &'a Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutput<S>> + Send + 'a,
{
    type Output = Fut::Output;

    fn start(
        &'a self,
        (state, cx): (&'a S, &'a Context),
    ) -> impl Future<Output = Self::Output> + Send + 'a {
        self(state, cx)
    }
}

impl<'a, S, F, Fut> BorrowingFn<'a, S, (S, &'a Context)> for F
where
    F: Fn(S, &'a Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutput<S>> + Send + 'a,
{
    type Output = Fut::Output;

    fn start(
        &'a self,
        (state, cx): (S, &'a Context),
    ) -> impl Future<Output = Self::Output> + Send + 'a {
        self(state, cx)
    }
}

/// Defines a shape: the bound that recognises it, whether its output can jump, its metadata, and
/// how to call it. A function over a type that is no state also has a shape: the graph then says so, instead
/// of every mention.
macro_rules! shape {
    (
        $shape:ty, [$($generic:ident)*], where { $($bound:tt)* },
        may_goto: $may_goto:expr, meta: $meta:expr,
        |$function:ident, $call:ident| $body:expr
    ) => {
        impl<S: State, F, $($generic),*> Step<S> for FnStep<F, ($shape, $($generic),*)>
        where $($bound)*
        {
            fn call<'a>(&'a self, $call: Call<'a, S>) -> NodeRun<'a, S> {
                let $function = &self.0;
                $body
            }

            fn is_function(&self) -> bool {
                true
            }
        }

        #[diagnostic::do_not_recommend]
        impl<S, F, $($generic),*> IntoNode<S, ($shape, $($generic),*)> for F
        where $($bound)*
        {
            fn into_node(self) -> ConfiguredNode<S>
            where
                S: State,
            {
                let step = Arc::new(FnStep::<F, ($shape, $($generic),*)>(self, PhantomData));
                let node = ConfiguredNode::new(step, $may_goto);
                let describe: fn(ConfiguredNode<S>) -> ConfiguredNode<S> = $meta;
                describe(node)
            }
        }
    };
}

shape!(NodeRef, [O M], where {
        F: for<'x> Fn(&'x S) -> NodeFuture<'x, S, O, M> + Send + Sync + 'static,
        O: 'static, M: Annotated<S, O>,
    },
    may_goto: M::MAY_GOTO, meta: ConfiguredNode::described::<M::Meta>,
    |run, call| NodeRun::task(run(call.state).task));

shape!(NodeRefCx, [O M], where {
        F: for<'x> Fn(&'x S, &'x Context) -> NodeFuture<'x, S, O, M> + Send + Sync + 'static,
        O: 'static, M: Annotated<S, O>,
    },
    may_goto: M::MAY_GOTO, meta: ConfiguredNode::described::<M::Meta>,
    |run, call| NodeRun::task(run(call.state, call.cx).task));

shape!(NodeVal, [O M], where {
        F: Fn(S) -> OwnedFuture<'static, O, M> + Send + Sync + 'static,
        O: IntoOutput<S> + 'static, M: NodeMeta,
    },
    may_goto: O::MAY_GOTO, meta: ConfiguredNode::described::<M>,
    |run, call| NodeRun::future(run(call.state.clone()).body));

shape!(NodeValCx, [O M], where {
        F: for<'x> Fn(S, &'x Context) -> OwnedFuture<'x, O, M> + Send + Sync + 'static,
        O: IntoOutput<S> + 'static, M: NodeMeta,
    },
    may_goto: O::MAY_GOTO, meta: ConfiguredNode::described::<M>,
    |run, call| NodeRun::future(run(call.state.clone(), call.cx).body));

shape!(AsyncRef, [], where { F: for<'x> BorrowingFn<'x, S, &'x S> },
    may_goto: <<F as BorrowingFn<'static, S, &'static S>>::Output as IntoOutput<S>>::MAY_GOTO,
    meta: |node| node,
    |run, call| NodeRun::future(run.start(call.state)));

shape!(AsyncRefCx, [], where { F: for<'x> BorrowingFn<'x, S, (&'x S, &'x Context)> },
    may_goto: <<F as BorrowingFn<'static, S, (&'static S, &'static Context)>>::Output as IntoOutput<S>>::MAY_GOTO,
    meta: |node| node,
    |run, call| NodeRun::future(run.start((call.state, call.cx))));

shape!(AsyncVal, [Fut], where {
        F: Fn(S) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutput<S>> + Send + 'static,
    },
    may_goto: <Fut::Output as IntoOutput<S>>::MAY_GOTO, meta: |node| node,
    |run, call| NodeRun::future(run(call.state.clone())));

shape!(AsyncValCx, [], where { F: for<'x> BorrowingFn<'x, S, (S, &'x Context)> },
    may_goto: <<F as BorrowingFn<'static, S, (S, &'static Context)>>::Output as IntoOutput<S>>::MAY_GOTO,
    meta: |node| node,
    |run, call| NodeRun::future(run.start((call.state.clone(), call.cx))));

shape!(AsyncOwnedCx, [Fut], where {
        F: Fn(S, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutput<S>> + Send + 'static,
    },
    may_goto: <Fut::Output as IntoOutput<S>>::MAY_GOTO, meta: |node| node,
    |run, call| NodeRun::future(run(call.state.clone(), call.cx.clone())));

shape!(SyncRef, [O], where {
        F: Fn(&S) -> O + Send + Sync + 'static,
        O: IntoOutput<S> + 'static,
    },
    may_goto: O::MAY_GOTO, meta: |node| node,
    |run, call| NodeRun::ready(run(call.state)));

shape!(SyncRefCx, [O], where {
        F: Fn(&S, &Context) -> O + Send + Sync + 'static,
        O: IntoOutput<S> + 'static,
    },
    may_goto: O::MAY_GOTO, meta: |node| node,
    |run, call| NodeRun::ready(run(call.state, call.cx)));

shape!(SyncVal, [O], where {
        F: Fn(S) -> O + Send + Sync + 'static,
        O: IntoOutput<S> + 'static,
    },
    may_goto: O::MAY_GOTO, meta: |node| node,
    |run, call| NodeRun::ready(run(call.state.clone())));

shape!(SyncValCx, [O], where {
        F: Fn(S, &Context) -> O + Send + Sync + 'static,
        O: IntoOutput<S> + 'static,
    },
    may_goto: O::MAY_GOTO, meta: |node| node,
    |run, call| NodeRun::ready(run(call.state.clone(), call.cx)));
