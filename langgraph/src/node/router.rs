//! Routers: functions that choose the next node.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use super::{Context, IntoTargets};
use crate::error::NodeError;
use crate::state::State;

/// One call of a router, as the runtime awaits it.
#[must_use = "a router does nothing until it is awaited"]
pub struct RouterRun<'a, T>(Inner<'a, T>);

enum Inner<'a, T> {
    Ready(Option<Result<T, NodeError>>),
    Future(Pin<Box<dyn Future<Output = Result<T, NodeError>> + Send + 'a>>),
}

impl<'a, T> RouterRun<'a, T> {
    /// Creates a run with its result.
    pub const fn ready(answer: Result<T, NodeError>) -> Self {
        Self(Inner::Ready(Some(answer)))
    }

    /// Creates a run from a future.
    pub fn future(answer: impl Future<Output = Result<T, NodeError>> + Send + 'a) -> Self {
        Self(Inner::Future(Box::pin(answer)))
    }

    /// Returns the result if it is ready, by reference.
    #[inline]
    pub(crate) fn answer(&self) -> Option<&Result<T, NodeError>> {
        match &self.0 {
            Inner::Ready(answer) => answer.as_ref(),
            Inner::Future(_) => None,
        }
    }

    /// Converts the result of the run.
    pub fn map<U: Send + 'a>(
        self,
        change: impl FnOnce(T) -> Result<U, NodeError> + Send + 'a,
    ) -> RouterRun<'a, U>
    where
        T: Send + 'a,
    {
        match self.0 {
            Inner::Ready(answer) => {
                RouterRun(Inner::Ready(answer.map(|answer| answer.and_then(change))))
            }
            Inner::Future(answer) => RouterRun::future(async move { change(answer.await?) }),
        }
    }
}

impl<'a, T: Send + 'a> RouterRun<'a, T> {
    /// Continues with another run, which depends on the result of this one.
    pub fn then<U: Send + 'a>(
        self,
        next: impl FnOnce(T) -> RouterRun<'a, U> + Send + 'a,
    ) -> RouterRun<'a, U> {
        match self.0 {
            Inner::Ready(Some(Ok(answer))) => next(answer),
            Inner::Ready(Some(Err(error))) => RouterRun::ready(Err(error)),
            Inner::Ready(None) => RouterRun(Inner::Ready(None)),
            Inner::Future(answer) => RouterRun::future(async move { next(answer.await?).await }),
        }
    }
}

impl<T> Unpin for RouterRun<'_, T> {}

impl<T> Future for RouterRun<'_, T> {
    type Output = Result<T, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Inner::Ready(answer) => match answer.take() {
                Some(answer) => Poll::Ready(answer),
                None => Poll::Pending,
            },
            Inner::Future(answer) => answer.as_mut().poll(cx),
        }
    }
}

impl_debug!([T] RouterRun<'_, T>);

/// What [`add_conditional_edges`](crate::StateGraph::add_conditional_edges) takes: a function of
/// `&S` and an optional `&Context`, sync or async, that returns the targets, plain or in a
/// `Result`.
#[diagnostic::on_unimplemented(
    message = "this is not a router of a graph over `{S}`",
    label = "not a router over `{S}`",
    note = "a router is a function from `&{S}` (and an optional `&Context`) to a node's name, `END`, a `Send`, or a list of these"
)]
pub trait IntoRouter<S: State, K>: Send + Sync + 'static {
    /// The router's return type.
    type Answer: IntoTargets<S> + Send;

    /// Calls the router.
    fn route<'a>(&'a self, state: &'a S, cx: &'a Context) -> RouterRun<'a, Self::Answer>;
}

macro_rules! shapes {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

shapes!(Sync1 Sync2 TrySync1 TrySync2 Async1 Async2 TryAsync1 TryAsync2);

macro_rules! sync {
    ($shape:ident, $state:ident $cx:ident, ($($arg:ident: $ty:ty),*), $answer:ty, [$($error:ident)?], |$value:ident| $wrap:expr) => {
        impl<S: State, F, T $(, $error)?> IntoRouter<S, ($shape, T $(, $error)?)> for F
        where
            F: Fn($($ty),*) -> $answer + Send + Sync + 'static,
            T: IntoTargets<S> + Send,
            $($error: Into<NodeError>)?
        {
            type Answer = T;

            #[allow(unused_variables)]
            fn route<'a>(&'a self, $state: &'a S, $cx: &'a Context) -> RouterRun<'a, T> {
                let $value = self($($arg),*);
                RouterRun::ready($wrap)
            }
        }
    };
}

sync!(Sync1, state cx, (state: &S), T, [], |answer| Ok(answer));
sync!(Sync2, state cx, (state: &S, cx: &Context), T, [], |answer| Ok(answer));
sync!(TrySync1, state cx, (state: &S), Result<T, E>, [E], |answer| answer.map_err(Into::into));
sync!(TrySync2, state cx, (state: &S, cx: &Context), Result<T, E>, [E], |answer| answer.map_err(Into::into));

/// Marks an async router whose future borrows the state.
#[doc(hidden)]
pub trait BorrowingRouter<'a, S: State, A, K>: Send + Sync + 'static {
    type Answer: IntoTargets<S> + Send;
    fn start(
        &'a self,
        argument: A,
    ) -> impl Future<Output = Result<Self::Answer, NodeError>> + Send + 'a;
}

macro_rules! borrowing {
    ($shape:ident, $argument:ty, ($($arg:ident: $ty:ty),*), $output:ty, [$($error:ident)?], |$value:ident| $wrap:expr) => {
        #[allow(unused_parens)]
        impl<'a, S, F, Fut, T $(, $error)?> BorrowingRouter<'a, S, $argument, ($shape $(, $error)?)> for F
        where
            S: State,
            F: Fn($($ty),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = $output> + Send + 'a,
            T: IntoTargets<S> + Send + 'a,
            $($error: Into<NodeError> + 'a)?
        {
            type Answer = T;

            fn start(&'a self, ($($arg),*): $argument) -> impl Future<Output = Result<T, NodeError>> + Send + 'a {
                let answer = self($($arg),*);
                async move {
                    let $value = answer.await;
                    $wrap
                }
            }
        }
    };
}

borrowing!(Async1, &'a S, (state: &'a S), T, [], |answer| Ok(answer));
borrowing!(Async2, (&'a S, &'a Context), (state: &'a S, cx: &'a Context), T, [], |answer| Ok(answer));
borrowing!(TryAsync1, &'a S, (state: &'a S), Result<T, E>, [E], |answer| answer.map_err(Into::into));
borrowing!(TryAsync2, (&'a S, &'a Context), (state: &'a S, cx: &'a Context), Result<T, E>, [E], |answer| answer.map_err(Into::into));

macro_rules! asynchronous {
    ($shape:ident, [$($error:ident)?], $argument:ty, |$state:ident, $cx:ident| $tuple:expr) => {
        #[allow(unused_parens)]
        impl<S: State, F, T $(, $error: 'static)?> IntoRouter<S, ($shape, T $(, $error)?)> for F
        where
            F: for<'x> BorrowingRouter<'x, S, $argument, ($shape $(, $error)?), Answer = T>,
            T: IntoTargets<S> + Send + 'static,
        {
            type Answer = T;

            #[allow(unused_variables)]
            fn route<'a>(&'a self, $state: &'a S, $cx: &'a Context) -> RouterRun<'a, T> {
                RouterRun::future(self.start($tuple))
            }
        }
    };
}

asynchronous!(Async1, [], &'x S, |state, cx| state);
asynchronous!(Async2, [], (&'x S, &'x Context), |state, cx| (state, cx));
asynchronous!(TryAsync1, [E], &'x S, |state, cx| state);
asynchronous!(TryAsync2, [E], (&'x S, &'x Context), |state, cx| (
    state, cx
));
