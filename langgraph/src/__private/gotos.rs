//! Nodes whose return types name targets, as types: without a `goto [..]` beside them, they do not compile.
//!
//! An option such as `.retry(3)` hides the type of its node: `graph!` keeps that of the node before, as a
//! [`Base`]. Where the type of a node does not say what it returns, [`Added`] has no `goto` of its own, and that of
//! [`UnknownGoto`] accepts it: `compile()` reports those.
//!
//! The methods take the node by value and return nothing, because each step of a call is work for rustc at each
//! node.

#![allow(clippy::unused_self)] // calls find the methods

use std::future::Future;
use std::marker::PhantomData;

use super::writes::Added;
use crate::graph::{
    AsyncOwnedCx, AsyncRef, AsyncRefCx, AsyncVal, AsyncValCx, BorrowingFn, ByNode, IntoNode,
    NodeRef, NodeRefCx, NodeVal, NodeValCx, SyncRef, SyncRefCx, SyncVal, SyncValCx,
};
use crate::node::{Context, NamesTargets, Targets};

/// What a node without `goto [..]` returns. The targets of a node do not implement it, and no other type has to.
#[diagnostic::on_unimplemented(
    message = "this node may name the next node, and the graph does not say which ones",
    label = "it returns `Command`, `Next` or a list of commands",
    note = "declare the targets beside its edges: `node => goto [a, END];`",
    note = "a node that only sets a field without its reducer needs no command: `update.overwrite_field(value)`"
)]
pub trait FollowsEdges {}

/// A value whose method `run` returns a type that names targets.
pub trait JumpingMethod<S> {}

/// The kind of a node, a value of type `N`, whose return type names targets.
pub trait JumpingKind<S, N> {
    /// [`Targets`]. As a projection, it stays unknown for a value that is no node, which rustc reports by itself.
    type Found;
}

macro_rules! jumping {
    ($(($shape:ident, $output:ident $(, $meta:ident)?))*) => {$(
        impl<S, N, $output: NamesTargets $(, $meta)?> JumpingKind<S, N> for ($shape, $output $(, $meta)?) {
            type Found = $output::Found;
        }
    )*};
}

macro_rules! jumping_futures {
    ($($shape:ident)*) => {$(
        impl<S, N, F: Future<Output: NamesTargets>> JumpingKind<S, N> for ($shape, F) {
            type Found = <F::Output as NamesTargets>::Found;
        }
    )*};
}

macro_rules! jumping_borrowers {
    ($($shape:ident<$lifetime:lifetime, $argument:ty, $of_static:ty>)*) => {$(
        impl<S: 'static, N> JumpingKind<S, N> for ($shape,)
        where
            N: for<$lifetime> BorrowingFn<$lifetime, S, $argument>,
            <N as BorrowingFn<'static, S, $of_static>>::Output: NamesTargets,
        {
            type Found = <<N as BorrowingFn<'static, S, $of_static>>::Output as NamesTargets>::Found;
        }
    )*};
}

jumping! {
    (NodeRef, O, M)
    (NodeRefCx, O, M)
    (NodeVal, O, M)
    (NodeValCx, O, M)
    (SyncRef, O)
    (SyncRefCx, O)
    (SyncVal, O)
    (SyncValCx, O)
}
jumping_futures!(AsyncVal AsyncOwnedCx);
jumping_borrowers!(
    AsyncRef<'x, &'x S, &'static S>
    AsyncRefCx<'x, (&'x S, &'x Context), (&'static S, &'static Context)>
    AsyncValCx<'x, (S, &'x Context), (S, &'static Context)>
);

impl<S, N: JumpingMethod<S>> JumpingKind<S, N> for ByNode {
    type Found = Targets;
}

impl<S, K: JumpingKind<S, N>, N> Added<S, K, N> {
    /// Reports that it names targets. The bound is that of the method: rustc does not look at it when it chooses
    /// between this method and that of [`UnknownGoto`].
    pub fn goto(self)
    where
        K::Found: FollowsEdges,
    {
    }
}

/// The type of a node or a worker without its options.
#[derive(Clone, Copy, Debug)]
pub struct Base<N>(PhantomData<fn() -> N>);

/// Remembers the type of a node or a worker that gets options.
pub fn without_options<N>(_: &N) -> Base<N> {
    Base(PhantomData)
}

/// A node without its options, in a graph over `S`.
#[derive(Debug)]
pub struct NodeIn<S, N>(PhantomData<fn() -> (S, N)>);

impl<S, K, N> Added<S, K, N> {
    /// Takes the node's type from `_base`, the node without its options.
    pub fn known_as<B>(&self, _base: Base<B>) -> NodeIn<S, B> {
        NodeIn(PhantomData)
    }
}

/// The kind of a node that has options.
pub trait KnownNode<S, K, N> {
    /// Returns the node with its kind.
    fn kind(self) -> Added<S, K, N>;
}

impl<S, K, N: IntoNode<S, K>> KnownNode<S, K, N> for NodeIn<S, N> {
    fn kind(self) -> Added<S, K, N> {
        Added::new()
    }
}

/// The fallback for what is no node or worker without its options.
pub trait UnknownKind: Sized {
    /// Returns what has no `goto` of its own.
    fn kind(self) -> Added<(), (), ()> {
        Added::new()
    }
}

impl<S, N> UnknownKind for &NodeIn<S, N> {}

/// The fallback for a node that names no targets, or whose type does not say.
pub trait UnknownGoto: Sized {
    /// Accepts the node.
    fn goto(self) {}
}

impl<S, K, N> UnknownGoto for Added<S, K, N> {}
