//! Inputs of runs.

use super::IntoOutput;
use crate::state::State;

/// The input of a run, or of an update from outside.
///
/// It is the state's update, the state `S` itself, [`Command<S>`](super::Command), or `()` for
/// nothing. Every type that a node may return implements it, so never implement it by hand.
#[diagnostic::on_unimplemented(
    message = "this is not an input of a graph over `{S}`",
    label = "not an input of a graph over `{S}`",
    note = "an input is the state's update, `{S}` itself, a `Command<{S}>`, or `()` for nothing"
)]
pub trait IntoInput<S: State>: IntoOutput<S> {}

// Without this, rustc would say that a node cannot return it.
#[diagnostic::do_not_recommend]
impl<S: State, T: IntoOutput<S>> IntoInput<S> for T {}
