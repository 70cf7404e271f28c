//! The answers of the routers of `graph!`: any type, plain, in a `Result`, or of a future.
//!
//! Which of these a router gives is seen from the type of its answer, by the order in which rustc
//! looks up the method of `(&Of(&answer)).kind()`: one that takes `&Of` by value, of the type itself
//! before one of a trait; one that takes a reference to it; one that takes what it refers to. There
//! are few steps, as each of them is work for rustc in every decision.

use std::future::Future;

use crate::graph::Pick;
use crate::node::{Context, NodeError, RouterRun};
use crate::state::State;

/// A function over the state, and the context if it wants it.
#[diagnostic::on_unimplemented(
    message = "this is not a router of this graph",
    label = "not a router",
    note = "a router is a function or a closure over `&State`, and `&Context` if it wants it, with any answer, sync or async, plain or in a `Result`"
)]
pub trait Ask<'a, S: State, K> {
    /// What the function returns.
    type Answer;

    /// Calls the function.
    fn ask(&self, state: &'a S, cx: &'a Context) -> Self::Answer;
}

/// A function of the state.
#[derive(Debug)]
pub enum OfState {}

/// A function of the state and the context.
#[derive(Debug)]
pub enum OfStateAndContext {}

impl<'a, S: State, F: Fn(&'a S) -> A, A> Ask<'a, S, OfState> for F {
    type Answer = A;

    fn ask(&self, state: &'a S, _: &'a Context) -> A {
        self(state)
    }
}

impl<'a, S: State, F: Fn(&'a S, &'a Context) -> A, A> Ask<'a, S, OfStateAndContext> for F {
    type Answer = A;

    fn ask(&self, state: &'a S, cx: &'a Context) -> A {
        self(state, cx)
    }
}

/// Calls a router.
pub fn ask<'a, S: State, K, R: Ask<'a, S, K>>(
    router: &R,
    state: &'a S,
    cx: &'a Context,
) -> R::Answer {
    router.ask(state, cx)
}

/// An answer to be looked at.
#[derive(Debug)]
pub struct Of<'a, T>(pub &'a T);

impl<T> Clone for Of<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Of<'_, T> {}

/// A future of a `Result`.
#[derive(Clone, Copy, Debug)]
pub struct TryFuture;

/// A future.
#[derive(Clone, Copy, Debug)]
pub struct ToAwait;

/// A `Result`.
#[derive(Clone, Copy, Debug)]
pub struct Fallible;

/// Anything else.
#[derive(Clone, Copy, Debug)]
pub struct Ready;

impl<T, E> Of<'_, Result<T, E>> {
    /// What it is.
    pub fn kind(&self) -> Fallible {
        Fallible
    }
}

/// Sees a future of a `Result`.
pub trait TryFutureAnswer {
    /// What it is.
    fn kind(self) -> TryFuture;
}

impl<F: Future<Output = Result<T, E>>, T, E> TryFutureAnswer for &Of<'_, F> {
    fn kind(self) -> TryFuture {
        TryFuture
    }
}

/// Sees a future.
pub trait FutureAnswer {
    /// What it is.
    fn kind(&self) -> ToAwait;
}

impl<F: Future> FutureAnswer for &Of<'_, F> {
    fn kind(&self) -> ToAwait {
        ToAwait
    }
}

/// Sees anything else.
pub trait PlainAnswer {
    /// What it is.
    fn kind(self) -> Ready;
}

impl<T> PlainAnswer for Of<'_, T> {
    fn kind(self) -> Ready {
        Ready
    }
}

// The kinds are values only so that `(..).kind().run(..)` finds the right `run`.
#[allow(clippy::unused_self)]
impl TryFuture {
    /// Awaits the answer, unwraps it and reads it.
    pub fn run<'a, T, E: Into<NodeError>, U>(
        self,
        answer: impl Future<Output = Result<T, E>> + Send + 'a,
        read: impl FnOnce(T) -> U + Send + 'a,
    ) -> RouterRun<'a, U> {
        RouterRun::future(async move { answer.await.map(read).map_err(Into::into) })
    }

    /// Awaits the answer, unwraps it and reads it as the number of an arm.
    pub fn pick<'a, S: State, T: 'a, E: Into<NodeError>>(
        self,
        answer: impl Future<Output = Result<T, E>> + Send + 'a,
        read: fn(T) -> usize,
    ) -> RouterRun<'a, Pick<S>> {
        self.run(answer, move |answer| Pick::arm(read(answer)))
    }
}

#[allow(clippy::unused_self)]
impl ToAwait {
    /// Awaits the answer and reads it.
    pub fn run<'a, T, U>(
        self,
        answer: impl Future<Output = T> + Send + 'a,
        read: impl FnOnce(T) -> U + Send + 'a,
    ) -> RouterRun<'a, U> {
        RouterRun::future(async move { Ok(read(answer.await)) })
    }

    /// Awaits the answer and reads it as the number of an arm.
    pub fn pick<'a, S: State, T: 'a>(
        self,
        answer: impl Future<Output = T> + Send + 'a,
        read: fn(T) -> usize,
    ) -> RouterRun<'a, Pick<S>> {
        self.run(answer, move |answer| Pick::arm(read(answer)))
    }
}

#[allow(clippy::unused_self)]
impl Fallible {
    /// Unwraps the answer and reads it.
    pub fn run<'a, T, E: Into<NodeError>, U>(
        self,
        answer: Result<T, E>,
        read: impl FnOnce(T) -> U,
    ) -> RouterRun<'a, U> {
        RouterRun::ready(answer.map(read).map_err(Into::into))
    }

    /// Unwraps the answer and reads it as the number of an arm.
    pub fn pick<'a, S: State, T, E: Into<NodeError>>(
        self,
        answer: Result<T, E>,
        read: fn(T) -> usize,
    ) -> RouterRun<'a, Pick<S>> {
        self.run(answer, move |answer| Pick::arm(read(answer)))
    }
}

#[allow(clippy::unused_self)]
impl Ready {
    /// Reads the answer.
    pub fn run<'a, T, U>(self, answer: T, read: impl FnOnce(T) -> U) -> RouterRun<'a, U> {
        RouterRun::ready(Ok(read(answer)))
    }

    /// Reads the answer as the number of an arm.
    pub fn pick<'a, S: State, T>(self, answer: T, read: fn(T) -> usize) -> RouterRun<'a, Pick<S>> {
        self.run(answer, move |answer| Pick::arm(read(answer)))
    }
}
