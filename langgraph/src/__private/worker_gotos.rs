//! Workers whose return types name targets; as [`gotos`](super::gotos) for nodes.

#![allow(clippy::unused_self)] // calls find the methods

use std::future::Future;
use std::marker::PhantomData;

use super::gotos::{Base, FollowsEdges, UnknownGoto, UnknownKind};
use crate::graph::into_worker::{
    Annotated, AnnotatedAll, AnnotatedCx, AnnotatedState, Async, AsyncAll, AsyncOwnedAll,
    AsyncOwnedCx, AsyncOwnedState, AsyncState, BorrowingWorker, ByWorker,
};
use crate::graph::{IntoWorker, StateGraph};
use crate::node::{Context, NamesTargets, Targets, Worker};
use crate::state::State;

/// A state, an item, a kind of worker and a worker, of which there is no value.
type Types<S, T, K, W> = fn() -> (S, T, K, W);

/// A worker in the graph.
#[derive(Debug)]
pub struct AddedWorker<S, T, K, W>(PhantomData<Types<S, T, K, W>>);

impl<S, T, K, W> AddedWorker<S, T, K, W> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }

    /// Takes the worker's type from `_base`, the worker without its options.
    pub fn known_as<B>(&self, _base: Base<B>) -> WorkerIn<S, T, B> {
        WorkerIn(PhantomData)
    }
}

/// Adds a worker, and remembers its kind.
pub fn add_worker<S: State, T, K, W: IntoWorker<S, T, K>>(
    graph: &mut StateGraph<S>,
    name: &str,
    worker: W,
) -> (Worker<T>, AddedWorker<S, T, K, W>) {
    (graph.add_worker(name, worker), AddedWorker::new())
}

/// A worker without its options, in a graph over `S` that gives it items of type `T`.
#[derive(Debug)]
#[allow(clippy::type_complexity)] // a marker for three types
pub struct WorkerIn<S, T, W>(PhantomData<fn() -> (S, T, W)>);

/// The kind of a worker that has options.
pub trait KnownWorker<S, T, K, W> {
    /// Returns the worker with its kind.
    fn kind(self) -> AddedWorker<S, T, K, W>;
}

impl<S, T, K, W: IntoWorker<S, T, K>> KnownWorker<S, T, K, W> for WorkerIn<S, T, W> {
    fn kind(self) -> AddedWorker<S, T, K, W> {
        AddedWorker::new()
    }
}

/// A method worker that returns a type that names targets.
pub trait JumpingWorkerMethod<S, T> {}

/// The kind of a worker, a value of type `W`, whose return type names targets.
pub trait JumpingWorker<S, T, W> {
    /// [`Targets`].
    type Found;
}

macro_rules! jumping {
    ($(($shape:ident, $output:ident, $meta:ident))*) => {$(
        impl<S, T, W, $output: NamesTargets, $meta> JumpingWorker<S, T, W> for ($shape, $output, $meta) {
            type Found = $output::Found;
        }
    )*};
}

macro_rules! jumping_futures {
    ($($shape:ident)*) => {$(
        impl<S, T, W, F: Future<Output: NamesTargets>> JumpingWorker<S, T, W> for ($shape, F) {
            type Found = <F::Output as NamesTargets>::Found;
        }
    )*};
}

macro_rules! jumping_borrowers {
    ($($shape:ident<$lifetime:lifetime, $argument:ty, $of_static:ty>)*) => {$(
        impl<S: 'static, T, W> JumpingWorker<S, T, W> for ($shape,)
        where
            W: for<$lifetime> BorrowingWorker<$lifetime, S, T, $argument>,
            <W as BorrowingWorker<'static, S, T, $of_static>>::Output: NamesTargets,
        {
            type Found = <<W as BorrowingWorker<'static, S, T, $of_static>>::Output as NamesTargets>::Found;
        }
    )*};
}

jumping! {
    (Annotated, O, M)
    (AnnotatedState, O, M)
    (AnnotatedCx, O, M)
    (AnnotatedAll, O, M)
}
jumping_futures!(Async AsyncOwnedState AsyncOwnedCx AsyncOwnedAll);
jumping_borrowers!(
    AsyncState<'x, &'x S, &'static S>
    AsyncAll<'x, (&'x S, &'x Context), (&'static S, &'static Context)>
);

impl<S, T, W: JumpingWorkerMethod<S, T>> JumpingWorker<S, T, W> for ByWorker {
    type Found = Targets;
}

impl<S, T, K: JumpingWorker<S, T, W>, W> AddedWorker<S, T, K, W> {
    /// Reports that it names targets.
    pub fn goto(self)
    where
        K::Found: FollowsEdges,
    {
    }
}

impl<S, T, W> UnknownKind for &WorkerIn<S, T, W> {}
impl<S, T, K, W> UnknownGoto for AddedWorker<S, T, K, W> {}
