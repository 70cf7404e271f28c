//! What an annotated function answers: checked where the function is defined, and only there.
//!
//! A mention of a function asks [`Annotated`] of its marker. For a marker of [`Checked`] that holds
//! whatever the function returns, so that a wrong answer is not told again at every mention.

use std::marker::PhantomData;

use super::{IntoOutput, NodeMeta};
use crate::state::State;

/// A marker of a function that returns `O` in a graph over `S`.
pub trait Annotated<S, O>: 'static {
    /// What is known of the function.
    type Meta: NodeMeta;
    /// True when the answer can name the next node.
    const MAY_GOTO: bool;
}

#[diagnostic::do_not_recommend]
impl<S: State, O: IntoOutput<S>, M: NodeMeta> Annotated<S, O> for M {
    type Meta = M;
    const MAY_GOTO: bool = O::MAY_GOTO;
}

/// The marker `M` of a function whose definition checks what it returns.
#[derive(Debug)]
pub struct Checked<M>(PhantomData<fn() -> M>);

/// A marker that knows how its function answers, even if that is wrong.
pub trait KnowsAnswer: NodeMeta {
    /// True when the answer can name the next node.
    const MAY_GOTO: bool;
}

#[diagnostic::do_not_recommend]
impl<S, O, M: KnowsAnswer> Annotated<S, O> for Checked<M> {
    type Meta = M;
    const MAY_GOTO: bool = M::MAY_GOTO;
}

/// What a node of a graph over `S` returns, to be asked for its `MAY_GOTO`.
#[derive(Debug)]
pub struct Returns<S, O>(PhantomData<fn() -> (S, O)>);

impl<S: State, O: IntoOutput<S>> Returns<S, O> {
    /// True when the answer can name the next node.
    pub const MAY_GOTO: bool = O::MAY_GOTO;
}

/// What is found in [`Returns`] when it is no answer: a constant of the type itself comes first.
pub trait ReturnsNoAnswer {
    /// What is no answer names no node.
    const MAY_GOTO: bool = false;
}

impl<S, O> ReturnsNoAnswer for Returns<S, O> {}
