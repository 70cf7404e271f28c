//! The futures that node functions return. One box serves both direct calls and the runtime.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use super::{IntoOutput, NeededResource, Output};
use crate::error::NodeError;
use crate::state::State;
use langgraph_topology::{Calls, KeyInfo};

/// What `#[node]` knows about a function, available from the function's type.
pub trait NodeMeta: Send + Sync + 'static {
    /// The function's name.
    const NAME: &'static str;
    /// The function's doc comment.
    const DOCS: Option<&'static str> = None;
    /// The fields that it declares to write.
    const WRITES: Option<&'static [&'static str]> = None;
    /// The fields that it reads and those that it writes at most, as `#[node]` sees them: `goal days => plan`. A
    /// `?` stands for fields that are not known.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Trip {
    ///     goal: String,
    ///     plan: String,
    /// }
    ///
    /// #[node]
    /// async fn plan(trip: &Trip) -> TripUpdate {
    ///     TripUpdate::default().plan(format!("to {}", trip.goal))
    /// }
    ///
    /// let graph = graph! { START => plan => END }.compile()?;
    /// let node = graph.topology().node("plan").unwrap();
    /// assert_eq!(node.reads.as_deref(), Some(&["goal".to_owned()][..]));
    /// assert_eq!(node.may_write.as_deref(), Some(&["plan".to_owned()][..]));
    /// # Ok::<(), CompilationErrors>(())
    /// ```
    const USES: &'static str = "? => ?";
    /// Former names of the node; threads that wait for one of these continue with this node.
    const ALIASES: &'static [&'static str] = &[];
    /// True if it declares that it may interrupt.
    const INTERRUPTS: bool = false;
    /// What it declares to call.
    const CALLS: Calls = Calls { model: 0, tool: 0 };
    /// True if its output can name the next node. Only the expansion of `#[node]` states it.
    #[doc(hidden)]
    const MAY_GOTO: bool = false;

    /// The keys of its interrupts and of its work that is done once, as far as they are known.
    fn keys() -> Vec<KeyInfo> {
        Vec::new()
    }

    /// The resources that it always asks for, as far as they are known.
    fn needs() -> Vec<NeededResource> {
        Vec::new()
    }
}

/// A boxed node body that polls to the runtime's form of its output.
pub(crate) trait ErasedTask<S> {
    /// Leaves the output in `output`, which is empty before, and where it stays. What is returned fits into two
    /// registers: to read from memory what was written there a moment ago, but in other pieces, takes a processor
    /// longer than most of a superstep.
    fn poll_output(
        self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        output: &mut Output<S>,
    ) -> Poll<Result<(), Box<NodeError>>>
    where
        S: State;
}

/// The same body, polled to the output itself, for a direct call of the function.
pub(crate) trait TypedTask<S, O>: ErasedTask<S> {
    fn poll_direct(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<O>;
}

impl<S, F: Future<Output: IntoOutput<S>>> ErasedTask<S> for F {
    fn poll_output(
        self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        output: &mut Output<S>,
    ) -> Poll<Result<(), Box<NodeError>>>
    where
        S: State,
    {
        self.poll(cx).map(|answer| {
            let empty = std::mem::replace(output, answer.into_output().map_err(Box::new)?);
            // It holds nothing, which its destructor would have to find out.
            std::mem::forget(empty);
            Ok(())
        })
    }
}

impl<S, F: Future<Output: IntoOutput<S>>> TypedTask<S, F::Output> for F {
    fn poll_direct(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        self.poll(cx)
    }
}

/// What a `#[node]` function over `&S` returns.
///
/// Await it to call the function like any other, for example in a unit test. It is not a `Future`
/// itself, so that [`IntoNode`](crate::graph::IntoNode) can distinguish a `#[node]` function from a plain
/// async function.
// No bound on `S`: a type that is not a state is reported once, where the future is created.
#[must_use = "a node does nothing until it is awaited"]
pub struct NodeFuture<'a, S, O, M> {
    pub(crate) task: Pin<Box<dyn TypedTask<S, O> + Send + 'a>>,
    meta: PhantomData<fn() -> M>,
}

impl<'a, S, O, M> NodeFuture<'a, S, O, M> {
    /// Boxes the body of a node.
    pub fn new(body: impl Future<Output = O> + Send + 'a) -> Self
    where
        O: IntoOutput<S>,
    {
        Self {
            task: Box::pin(body),
            meta: PhantomData,
        }
    }
}

impl_debug!([S, O, M] NodeFuture<'_, S, O, M>);

/// The future of a direct call of a `#[node]` function.
#[doc(hidden)]
#[must_use = "a node does nothing until it is awaited"]
pub struct DirectCall<'a, S, O>(Pin<Box<dyn TypedTask<S, O> + Send + 'a>>);

impl_debug!([S, O] DirectCall<'_, S, O>);

impl<S, O> Future for DirectCall<'_, S, O> {
    type Output = O;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<O> {
        self.0.as_mut().poll_direct(cx)
    }
}

impl<'a, S, O, M> IntoFuture for NodeFuture<'a, S, O, M> {
    type Output = O;
    type IntoFuture = DirectCall<'a, S, O>;

    fn into_future(self) -> DirectCall<'a, S, O> {
        DirectCall(self.task)
    }
}

/// What a `#[node]` function returns if its first argument is taken by value: the state, or the
/// item of a worker.
///
/// Await it to call the function like any other.
#[must_use = "a node does nothing until it is awaited"]
pub struct OwnedFuture<'a, O, M> {
    pub(crate) body: Pin<Box<dyn Future<Output = O> + Send + 'a>>,
    meta: PhantomData<fn() -> M>,
}

impl<'a, O, M> OwnedFuture<'a, O, M> {
    /// Boxes the body of a node.
    pub fn new(body: impl Future<Output = O> + Send + 'a) -> Self {
        Self {
            body: Box::pin(body),
            meta: PhantomData,
        }
    }
}

impl_debug!([O, M] OwnedFuture<'_, O, M>);

impl<'a, O, M> IntoFuture for OwnedFuture<'a, O, M> {
    type Output = O;
    type IntoFuture = Pin<Box<dyn Future<Output = O> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        self.body
    }
}

/// One run of a node, as the runtime awaits it.
#[must_use = "a node does nothing until it is awaited"]
pub struct NodeRun<'a, S: State>(Pin<Box<dyn ErasedTask<S> + Send + 'a>>);

impl<'a, S: State> NodeRun<'a, S> {
    /// Creates a run that has already ended.
    pub fn ready(answer: impl IntoOutput<S>) -> Self {
        // Boxed like every other run: two words are cheaper to move than an output.
        Self::future(std::future::ready(answer.into_output()))
    }

    /// Creates a run from a future.
    pub fn future(body: impl Future<Output: IntoOutput<S>> + Send + 'a) -> Self {
        Self(Box::pin(body))
    }

    pub(crate) fn task(task: Pin<Box<dyn ErasedTask<S> + Send + 'a>>) -> Self {
        Self(task)
    }

    /// Returns a future that leaves the output in a place.
    pub(crate) fn into_place<'o>(self, output: &'o mut Output<S>) -> Placed<'a, 'o, S> {
        Placed { run: self, output }
    }

    /// Polls the run, which leaves its output in `output`.
    #[inline]
    pub(crate) fn poll_into(
        &mut self,
        cx: &mut TaskContext<'_>,
        output: &mut Output<S>,
    ) -> Poll<Result<(), Box<NodeError>>> {
        self.0.as_mut().poll_output(cx, output)
    }
}

impl<S: State> Future for NodeRun<'_, S> {
    type Output = Result<Output<S>, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let mut output = Output::none();
        let ended = self.poll_into(cx, &mut output);
        ended.map(|ended| ended.map(|()| output).map_err(|error| *error))
    }
}

impl_debug!([S: State] NodeRun<'_, S>);

/// One run of a node, whose output stays where it is left.
pub(crate) struct Placed<'a, 'o, S: State> {
    run: NodeRun<'a, S>,
    output: &'o mut Output<S>,
}

impl<S: State> Future for Placed<'_, '_, S> {
    type Output = Result<(), Box<NodeError>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let Self { run, output } = &mut *self;
        run.poll_into(cx, output)
    }
}
