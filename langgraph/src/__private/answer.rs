//! The return values of `graph!`'s routers: any type, plain, in a `Result`, or as a future.
//!
//! The type of the value decides which form it is, by rustc's method lookup for
//! `(&Of(&answer)).kind()`. rustc first tries a method that takes `&Of` by value, an inherent one
//! before a trait's; then one that takes a reference to it; then one that takes its target. There
//! are only a few steps, because each of them is work for rustc in every decision.

use std::future::Future;

use crate::error::NodeError;
use crate::graph::Pick;
use crate::node::{Context, RouterRun};
use crate::state::State;

/// A function of the state, and optionally of the context.
#[diagnostic::on_unimplemented(
    message = "this is not a router of this graph",
    label = "not a router",
    note = "a router is a function or a closure over `&State`, and `&Context` if it wants it, with any answer, sync or async, plain or in a `Result`"
)]
pub trait Ask<'a, S: 'a, K> {
    /// The function's return type.
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

impl<'a, S: 'a, F: Fn(&'a S) -> A, A> Ask<'a, S, OfState> for F {
    type Answer = A;

    fn ask(&self, state: &'a S, _: &'a Context) -> A {
        self(state)
    }
}

impl<'a, S: 'a, F: Fn(&'a S, &'a Context) -> A, A> Ask<'a, S, OfStateAndContext> for F {
    type Answer = A;

    fn ask(&self, state: &'a S, cx: &'a Context) -> A {
        self(state, cx)
    }
}

/// Calls a router.
pub fn ask<'a, S: 'a, K, R: Ask<'a, S, K>>(router: &R, state: &'a S, cx: &'a Context) -> R::Answer {
    router.ask(state, cx)
}

/// A return value to classify.
#[derive(Debug)]
pub struct Of<'a, T>(pub &'a T);

impl<T> Clone for Of<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Of<'_, T> {}

/// Marks a future of a `Result`.
#[derive(Clone, Copy, Debug)]
pub struct TryFuture;

/// Marks a future.
#[derive(Clone, Copy, Debug)]
pub struct ToAwait;

/// Marks a `Result`.
#[derive(Clone, Copy, Debug)]
pub struct Fallible;

/// Marks any other value.
#[derive(Clone, Copy, Debug)]
pub struct Ready;

impl<T, E> Of<'_, Result<T, E>> {
    /// Returns the marker.
    pub fn kind(&self) -> Fallible {
        Fallible
    }
}

/// Matches a future of a `Result`.
pub trait TryFutureAnswer {
    /// Returns the marker.
    fn kind(self) -> TryFuture;
}

impl<F: Future<Output = Result<T, E>>, T, E> TryFutureAnswer for &Of<'_, F> {
    fn kind(self) -> TryFuture {
        TryFuture
    }
}

/// Matches a future.
pub trait FutureAnswer {
    /// Returns the marker.
    fn kind(&self) -> ToAwait;
}

impl<F: Future> FutureAnswer for &Of<'_, F> {
    fn kind(&self) -> ToAwait {
        ToAwait
    }
}

/// Matches any other value.
pub trait PlainAnswer {
    /// Returns the marker.
    fn kind(self) -> Ready;
}

impl<T> PlainAnswer for Of<'_, T> {
    fn kind(self) -> Ready {
        Ready
    }
}

// The markers are values so that `(..).kind().run(..)` finds the right `run`.
#[allow(clippy::unused_self)]
impl TryFuture {
    /// Awaits the value, unwraps it and reads it.
    pub fn run<'a, T, E: Into<NodeError>, U>(
        self,
        answer: impl Future<Output = Result<T, E>> + Send + 'a,
        read: impl FnOnce(T) -> U + Send + 'a,
    ) -> RouterRun<'a, U> {
        RouterRun::future(async move { answer.await.map(read).map_err(Into::into) })
    }

    /// Awaits the value, unwraps it and reads it as the number of an arm.
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
    /// Awaits the value and reads it.
    pub fn run<'a, T, U>(
        self,
        answer: impl Future<Output = T> + Send + 'a,
        read: impl FnOnce(T) -> U + Send + 'a,
    ) -> RouterRun<'a, U> {
        RouterRun::future(async move { Ok(read(answer.await)) })
    }

    /// Awaits the value and reads it as the number of an arm.
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
    /// Unwraps the value and reads it.
    pub fn run<'a, T, E: Into<NodeError>, U>(
        self,
        answer: Result<T, E>,
        read: impl FnOnce(T) -> U,
    ) -> RouterRun<'a, U> {
        RouterRun::ready(answer.map(read).map_err(Into::into))
    }

    /// Unwraps the value and reads it as the number of an arm.
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
    /// Reads the value.
    pub fn run<'a, T, U>(self, answer: T, read: impl FnOnce(T) -> U) -> RouterRun<'a, U> {
        RouterRun::ready(Ok(read(answer)))
    }

    /// Reads the value as the number of an arm.
    pub fn pick<'a, S: State, T>(self, answer: T, read: fn(T) -> usize) -> RouterRun<'a, Pick<S>> {
        self.run(answer, move |answer| Pick::arm(read(answer)))
    }
}
