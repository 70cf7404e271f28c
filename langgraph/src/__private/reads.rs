//! The fields that nodes read, as types: a node that reads what nothing has written before it does not
//! compile.
//!
//! Fields are places in rows, as in [`writes`](super::writes). The row of what a node reads is compared
//! with the union of the input's row and those of the nodes that can run before. If one of them is
//! unknown, [`Reading`] has no `unwritten` of its own, and that of [`UnknownReads`] finds nothing.

#![allow(clippy::type_complexity, clippy::unused_self)] // it computes with types, and calls find them

use std::marker::PhantomData;

use super::writes::{Added, Found, No, Nothing, Or, PlainField, Row};
use crate::graph::{NodeRef, NodeRefCx, NodeVal, NodeValCx, StateGraph};
use crate::node::Checked;
use crate::state::State;

/// The marker of a node function, with the fields that it uses.
pub trait UsesFields {
    /// [`ReadsWrites`] or [`Both`]: one type, because each type of each node is work for rustc.
    type Fields;
}

/// The fields that a node uses: `(Name<…>, (Name<…>, ()))`, or [`UnknownFields`].
pub trait UsedFields {
    /// The fields that it reads at most.
    type Reads;
    /// The fields that it writes at most.
    type Writes;
}

/// The fields that a node reads, and those that it writes.
#[derive(Debug)]
pub struct ReadsWrites<R, W>(PhantomData<(R, W)>);

impl<R, W> UsedFields for ReadsWrites<R, W> {
    type Reads = R;
    type Writes = W;
}

/// The fields that a node reads and writes.
#[derive(Debug)]
pub struct Both<F>(PhantomData<F>);

impl<F> UsedFields for Both<F> {
    type Reads = F;
    type Writes = F;
}

/// Fields that are not known: they have no row.
#[derive(Debug)]
pub enum UnknownFields {}

impl<M: UsesFields> UsesFields for Checked<M> {
    type Fields = M::Fields;
}

macro_rules! kinds {
    ($($shape:ty)*) => {$(
        impl<O, M: UsesFields> UsesFields for ($shape, O, M) {
            type Fields = M::Fields;
        }
    )*};
}

kinds!(NodeRef NodeRefCx NodeVal NodeValCx);

type ReadsOf<K> = <<K as UsesFields>::Fields as UsedFields>::Reads;
type WritesOf<K> = <<K as UsesFields>::Fields as UsedFields>::Writes;

/// The names of the input.
#[derive(Debug)]
pub struct GivenFields<N>(PhantomData<N>);

/// What may be written before a node: the kinds of nodes, and the [`GivenFields`] at the end.
pub trait Before<S> {
    /// The row of the fields.
    type Row;
}

impl<S, N: Row<S>> Before<S> for GivenFields<N> {
    type Row = N::Row;
}

impl<S, K, T> Before<S> for (K, T)
where
    K: UsesFields<Fields: UsedFields<Writes: Row<S>>>,
    T: Before<S>,
    <WritesOf<K> as Row<S>>::Row: Or<T::Row>,
{
    type Row = <<WritesOf<K> as Row<S>>::Row as Or<T::Row>>::Out;
}

/// The first field of a row that another row does not have.
pub trait Without<B> {
    /// The field, or [`Nothing`].
    type Out;
}

impl<B> Without<B> for () {
    type Out = Nothing;
}

impl<H: WithoutPlace<No, T, ()>, T> Without<()> for (H, T) {
    type Out = H::Out;
}

impl<H: WithoutPlace<I, T, U>, T, I, U> Without<(I, U)> for (H, T) {
    type Out = H::Out;
}

/// The first field of a row that another row does not have, from one place on.
pub trait WithoutPlace<B, T, U> {
    /// The field, or [`Nothing`].
    type Out;
}

impl<B, T: Without<U>, U> WithoutPlace<B, T, U> for No {
    type Out = T::Out;
}

impl<F: PlainField, T, U> WithoutPlace<No, T, U> for F {
    type Out = F;
}

impl<F: PlainField, T: Without<U>, U> WithoutPlace<F, T, U> for F {
    type Out = T::Out;
}

/// Not a field: all that a node reads may have been written.
#[diagnostic::on_unimplemented(
    message = "this node reads `{Self}`, and nothing has written it before",
    label = "`{Self}` is read here",
    note = "let a node before this one write `{Self}`, or name it in `#![input(…)]`"
)]
pub trait WrittenBefore {}

#[diagnostic::do_not_recommend]
impl WrittenBefore for Nothing {}

/// A node of kind `A`, and what may be written before it.
#[derive(Debug)]
pub struct Reading<S, A, B>(PhantomData<fn() -> (S, A, B)>);

/// Begins with a node and the names of the input.
pub fn reading<S, A, M, N>(_: &Added<S, A, M>, _: PhantomData<N>) -> Reading<S, A, GivenFields<N>> {
    Reading(PhantomData)
}

impl<S, A, B> Reading<S, A, B> {
    /// Adds a node that can run before.
    pub fn after<K, M>(&self, _: &Added<S, K, M>) -> Reading<S, A, (K, B)> {
        Reading(PhantomData)
    }
}

impl<S, A, B> Reading<S, A, B>
where
    A: UsesFields<Fields: UsedFields<Reads: Row<S>>>,
    B: Before<S>,
    <ReadsOf<A> as Row<S>>::Row: Without<B::Row>,
{
    /// Finds the first field that nothing writes before.
    pub fn unwritten(&self) -> Found<<<ReadsOf<A> as Row<S>>::Row as Without<B::Row>>::Out> {
        Found::new()
    }
}

/// The fallback if what a node reads, or what is written before, is unknown.
pub trait UnknownReads {
    /// Finds nothing.
    fn unwritten(&self) -> Found<Nothing> {
        Found::new()
    }
}

impl<S, A, B> UnknownReads for Reading<S, A, B> {}

/// Declares the input and the output of a graph. `fields` only names them, so that rustc reports one that
/// the state does not have.
pub fn declare_fields<S: State>(
    graph: &mut StateGraph<S>,
    input: Option<&[&str]>,
    output: Option<&[&str]>,
    _: fn(&S),
) {
    if let Some(fields) = input {
        graph.input_fields(fields.iter().copied());
    }
    if let Some(fields) = output {
        graph.output_fields(fields.iter().copied());
    }
}
