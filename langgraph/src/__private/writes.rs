//! The declared writes of nodes, as types: two nodes of one group that write one plain field do not
//! compile.
//!
//! Each plain field of a state is a place in a row. `#[node(writes(…))]` names fields, the state
//! turns names into a row, and two rows clash if both contain a field at one place. If one of the
//! nodes declares nothing, or the state has no rows, [`Pair`] has no `clash` of its own, and that
//! of [`UnknownWrites`] finds nothing.

use std::marker::PhantomData;

use crate::graph::StateGraph;
use crate::graph::{IntoNode, NodeRef, NodeRefCx, NodeVal, NodeValCx};
use crate::node::Checked;
use crate::state::State;

/// A place in a row that is not written.
#[derive(Debug)]
pub enum No {}

/// No common field.
#[derive(Debug)]
pub enum Nothing {}

/// A field, identified by the hash of its name.
#[derive(Debug)]
pub enum Name<const HASH: u64> {}

/// A plain field of a state.
pub trait PlainField {}

/// A state with the place of a field: `(No, (No, (field, ())))`, or `()` for a field with a
/// reducer.
pub trait FieldAt<const HASH: u64> {
    /// The row that contains only this field.
    type Row;
}

/// The marker of a node function that declares its writes.
pub trait DeclaresWrites {
    /// The names of the fields: `(Name<…>, (Name<…>, ()))`.
    type Names;
}

impl<M: DeclaresWrites> DeclaresWrites for Checked<M> {
    type Names = M::Names;
}

/// The kind of a node whose writes are known.
pub trait Kind {
    /// The names of the fields.
    type Names;
}

macro_rules! kinds {
    ($($shape:ty)*) => {$(
        impl<O, M: DeclaresWrites> Kind for ($shape, O, M) {
            type Names = M::Names;
        }
    )*};
}

kinds!(NodeRef NodeRefCx NodeVal NodeValCx);

/// Names of fields as a row of the state `S`.
pub trait Row<S> {
    /// The row.
    type Row;
}

impl<S> Row<S> for () {
    type Row = ();
}

impl<S: FieldAt<H>, T: Row<S>, const H: u64> Row<S> for (Name<H>, T)
where
    S::Row: Or<T::Row>,
{
    type Row = <S::Row as Or<T::Row>>::Out;
}

/// The union of two rows.
pub trait Or<B> {
    /// The resulting row.
    type Out;
}

impl<B> Or<B> for () {
    type Out = B;
}

impl<H, T> Or<()> for (H, T) {
    type Out = (H, T);
}

impl<H: OrPlace<I>, T: Or<U>, I, U> Or<(I, U)> for (H, T) {
    type Out = (H::Out, T::Out);
}

/// The union of one place of two rows.
pub trait OrPlace<B> {
    /// The resulting place.
    type Out;
}

impl<B> OrPlace<B> for No {
    type Out = B;
}

impl<F: PlainField, B> OrPlace<B> for F {
    type Out = F;
}

/// The first common field of two rows.
pub trait Clash<B> {
    /// The field, or [`Nothing`].
    type Out;
}

impl<B> Clash<B> for () {
    type Out = Nothing;
}

impl<H, T> Clash<()> for (H, T) {
    type Out = Nothing;
}

impl<H: ClashPlace<I, T, U>, T, I, U> Clash<(I, U)> for (H, T) {
    type Out = H::Out;
}

/// The first common field of two rows, from one place on.
pub trait ClashPlace<B, T, U> {
    /// The field, or [`Nothing`].
    type Out;
}

impl<B, T: Clash<U>, U> ClashPlace<B, T, U> for No {
    type Out = T::Out;
}

impl<F: PlainField, T: Clash<U>, U> ClashPlace<No, T, U> for F {
    type Out = T::Out;
}

impl<F: PlainField, T, U> ClashPlace<F, T, U> for F {
    type Out = F;
}

/// Not a field: at most one of two nodes writes it.
#[diagnostic::on_unimplemented(
    message = "two nodes run side by side, and both write `{Self}`",
    label = "`{Self}` has no reducer",
    note = "give `{Self}` a reducer, such as `#[reducer(append)]`, or let one node run after the other"
)]
pub trait WrittenOnce {}

#[diagnostic::do_not_recommend]
impl WrittenOnce for Nothing {}

/// Adds a node, and remembers its kind.
pub fn add<S: State, K, N: IntoNode<S, K>>(
    graph: &mut StateGraph<S>,
    name: &str,
    node: N,
) -> Added<S, K, N> {
    graph.add_node(name, node);
    Added::new()
}

/// A state, a kind of node and a node, of which there is no value.
type Types<S, K, N> = fn() -> (S, K, N);

/// A node in the graph.
#[derive(Debug)]
pub struct Added<S, K, N>(PhantomData<Types<S, K, N>>);

impl<S, K, N> Added<S, K, N> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

/// Pairs two parallel nodes.
pub fn pair<S, A, B, M, N>(_: &Added<S, A, M>, _: &Added<S, B, N>) -> Pair<S, A, B> {
    Pair(PhantomData)
}

/// Two parallel nodes.
#[derive(Debug)]
pub struct Pair<S, A, B>(PhantomData<(S, A, B)>);

/// The field that two nodes write.
#[derive(Debug)]
pub struct Found<F> {
    /// The field.
    pub field: PhantomData<F>,
}

impl<F> Found<F> {
    pub(super) const fn new() -> Self {
        Self { field: PhantomData }
    }
}

impl<S, A, B> Pair<S, A, B>
where
    A: Kind<Names: Row<S>>,
    B: Kind<Names: Row<S>>,
    RowOf<S, A>: Clash<RowOf<S, B>>,
{
    /// Finds the field that both write.
    pub fn clash(&self) -> Found<<RowOf<S, A> as Clash<RowOf<S, B>>>::Out> {
        Found::new()
    }
}

type RowOf<S, K> = <<K as Kind>::Names as Row<S>>::Row;

/// The fallback if one of the nodes does not declare its writes.
pub trait UnknownWrites {
    /// Finds nothing.
    fn clash(&self) -> Found<Nothing> {
        Found::new()
    }
}

impl<S, A, B> UnknownWrites for Pair<S, A, B> {}
