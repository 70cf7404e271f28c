//! Output types of annotated functions, which are checked only where the function is defined.
//!
//! A mention of a function requires [`Annotated`] of its marker. A marker of [`Checked`] always
//! implements it, so that a wrong output type is reported once, and not at every mention.

use std::marker::PhantomData;

use super::{IntoOutput, NodeMeta};
use crate::state::State;

/// A marker of a function that returns `O` in a graph over `S`.
pub trait Annotated<S, O>: 'static {
    /// The metadata of the function.
    type Meta: NodeMeta;
    /// True if the output can name the next node.
    const MAY_GOTO: bool;
}

#[diagnostic::do_not_recommend]
impl<S: State, O: IntoOutput<S>, M: NodeMeta> Annotated<S, O> for M {
    type Meta = M;
    const MAY_GOTO: bool = O::MAY_GOTO;
}

/// The marker `M` of a function whose definition checks its output type: its [`NodeMeta::MAY_GOTO`] is right, even if
/// that type is wrong.
#[derive(Debug)]
pub struct Checked<M>(PhantomData<fn() -> M>);

#[diagnostic::do_not_recommend]
impl<S, O, M: NodeMeta> Annotated<S, O> for Checked<M> {
    type Meta = M;
    const MAY_GOTO: bool = M::MAY_GOTO;
}

/// The output type of a node of a graph over `S`; it has a `MAY_GOTO` constant.
#[derive(Debug)]
pub struct Returns<S, O>(PhantomData<fn() -> (S, O)>);

impl<S: State, O: IntoOutput<S>> Returns<S, O> {
    /// True if the output can name the next node.
    pub const MAY_GOTO: bool = O::MAY_GOTO;
}

/// The fallback for [`Returns`] of a type that is not an output: constants of the type itself take
/// precedence.
pub trait ReturnsNoAnswer {
    /// Such a type names no node.
    const MAY_GOTO: bool = false;
}

impl<S, O> ReturnsNoAnswer for Returns<S, O> {}
