//! Everything that can be a node.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{
    Annotated, Call, ConfiguredNode, Context, IntoOutput, NodeFuture, NodeMeta, NodeRun,
    OwnedFuture, Step,
};
use crate::error::AgentError;
use crate::state::State;
use langgraph_topology::NodeKind;

/// One step of a graph, as a type of its own.
///
/// Implement it when a node needs fields; functions and closures are nodes already.
///
/// # Examples
///
/// ```
/// use langgraph::node::{Context, Node, NodeRun};
///
/// struct Add(i64);
///
/// impl Node<i64> for Add {
///     fn run<'a>(&'a self, state: &'a i64, _: &'a Context) -> NodeRun<'a, i64> {
///         NodeRun::future(async move { state + self.0 })
///     }
/// }
/// ```
pub trait Node<S: State>: Send + Sync + 'static {
    /// Runs the node on `state`.
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S>;

    /// True when the answer can name the next node.
    ///
    /// A node that says so is drawn with a line to anywhere, and must say in `graph!` where it may
    /// go: `node => goto [a, END]`. One that jumps and does not say so still can, but in `graph!`
    /// only to the nodes of such a list.
    fn may_goto(&self) -> bool {
        false
    }

    /// What the node does, for drawings.
    fn docs(&self) -> Option<&str> {
        None
    }

    /// The fields that the node writes whenever it succeeds, if it says so.
    ///
    /// Two nodes that run side by side and both write a field without a reducer are then found
    /// when the graph is compiled.
    fn writes(&self) -> Option<&[&str]> {
        None
    }

    /// The agent elsewhere that the node asks, if it asks one.
    ///
    /// Drawings show it, and a failure of the node is an [`AgentError::Remote`] with its name.
    fn remote_agent(&self) -> Option<&str> {
        None
    }
}

impl<S: State, N: Node<S> + ?Sized> Node<S> for Box<N> {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        (**self).run(state, cx)
    }

    fn may_goto(&self) -> bool {
        (**self).may_goto()
    }

    fn docs(&self) -> Option<&str> {
        (**self).docs()
    }

    fn writes(&self) -> Option<&[&str]> {
        (**self).writes()
    }

    fn remote_agent(&self) -> Option<&str> {
        (**self).remote_agent()
    }
}

impl<S: State, N: Node<S> + ?Sized> Node<S> for Arc<N> {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        (**self).run(state, cx)
    }

    fn may_goto(&self) -> bool {
        (**self).may_goto()
    }

    fn docs(&self) -> Option<&str> {
        (**self).docs()
    }

    fn writes(&self) -> Option<&[&str]> {
        (**self).writes()
    }

    fn remote_agent(&self) -> Option<&str> {
        (**self).remote_agent()
    }
}

/// Something with a name that takes a state and returns the whole state.
///
/// An agent works alone and as a node of any graph over its state.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// struct Doubler;
///
/// impl Agent for Doubler {
///     type State = i64;
///
///     fn name(&self) -> &str {
///         "doubler"
///     }
///
///     async fn run(&self, state: i64) -> Result<i64, AgentError> {
///         Ok(state * 2)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("doubler", Doubler).add_sequence(&["doubler"]);
/// assert_eq!(graph.compile()?.invoke(21).await?, Doubler.run(21).await?);
/// # Ok(())
/// # }
/// ```
pub trait Agent: Send + Sync + 'static {
    /// What the agent works on.
    type State: State;

    /// The agent's name.
    fn name(&self) -> &str;

    /// Runs the agent.
    fn run(
        &self,
        state: Self::State,
    ) -> impl Future<Output = Result<Self::State, AgentError>> + Send;
}

impl<T: Agent> Agent for Box<T> {
    type State = T::State;

    fn name(&self) -> &str {
        (**self).name()
    }

    async fn run(&self, state: Self::State) -> Result<Self::State, AgentError> {
        (**self).run(state).await
    }
}

impl<T: Agent> Agent for Arc<T> {
    type State = T::State;

    fn name(&self) -> &str {
        (**self).name()
    }

    async fn run(&self, state: Self::State) -> Result<Self::State, AgentError> {
        (**self).run(state).await
    }
}

/// What [`add_node`](crate::StateGraph::add_node) takes.
///
/// A `#[node]` function, an async or a plain function or closure over `S` or `&S` and an optional
/// `&Context`, an [`Agent`], a [`Node`] (boxed or shared too), a compiled graph over `S`, and each
/// of these with options. `K` only keeps these forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this is not a node of a graph over `{S}`",
    label = "not a node over `{S}`",
    note = "a node is a `#[node]` function that takes `&{S}`, another function or closure over it, or a value of a type that implements `Node<{S}>`",
    note = "an `async` closure that captures is not one: write a closure that returns an `async move` block",
    note = "a function whose first argument is an item is a worker: `worker(f)` makes it a value with options, and `for item in items {{ f(item) }}` runs it"
)]
pub trait IntoNode<S: State, K> {
    /// The node with its options.
    fn into_node(self) -> ConfiguredNode<S>;
}

// This impl and those of other types carry `do_not_recommend`: rustc would list them all under
// every wrong node, and the note on the trait says it better.
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
        let mut node = ConfiguredNode::new(Arc::new(NodeStep(self)), may_goto);
        if let Some(agent) = agent {
            node.info.kind = NodeKind::Remote { agent };
        }
        node.info.docs = docs;
        node.info.writes = writes;
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
        NodeRun::future(self.0.run(state))
    }
}

impl<A: Agent> IntoNode<A::State, ByAgent> for A {
    fn into_node(self) -> ConfiguredNode<A::State> {
        ConfiguredNode::new(Arc::new(AgentStep(self)), false)
    }
}

/// A function as a node; `K` says which shape the function has.
pub(super) struct FnStep<F, K>(pub(super) F, pub(super) PhantomData<fn() -> K>);

/// The shapes of functions. A shape is only ever a type parameter.
macro_rules! shapes {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

shapes!(NodeRef NodeRefCx NodeVal NodeValCx AsyncRef AsyncRefCx AsyncVal AsyncValCx SyncRef SyncRefCx SyncVal SyncValCx);

/// An async function whose future borrows its argument: the future's type depends on the lifetime.
#[doc(hidden)]
pub trait BorrowingFn<'a, S: State, A>: Send + Sync + 'static {
    type Output: IntoOutput<S>;
    fn start(&'a self, argument: A) -> impl Future<Output = Self::Output> + Send + 'a;
}

impl<'a, S, F, Fut> BorrowingFn<'a, S, &'a S> for F
where
    S: State,
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
    S: State,
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
    S: State,
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

/// One shape: the bound that recognises it, whether its answer can jump, its metadata, and how it is
/// called.
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
        }

        impl<S: State, F, $($generic),*> IntoNode<S, ($shape, $($generic),*)> for F
        where $($bound)*
        {
            fn into_node(self) -> ConfiguredNode<S> {
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
