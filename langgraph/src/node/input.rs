//! What a run is given.

use super::IntoOutput;
use crate::state::State;

/// What a run starts with, and what an update from outside writes.
///
/// The state's update, the state `S` itself, [`Command<S>`](super::Command), or `()` for nothing:
/// whatever a node may return, so it is never implemented by hand.
#[diagnostic::on_unimplemented(
    message = "this is not an input of a graph over `{S}`",
    label = "not an input of a graph over `{S}`",
    note = "an input is the state's update, `{S}` itself, a `Command<{S}>`, or `()` for nothing"
)]
pub trait IntoInput<S: State>: IntoOutput<S> {}

// Without this rustc would say that a node cannot return it.
#[diagnostic::do_not_recommend]
impl<S: State, T: IntoOutput<S>> IntoInput<S> for T {}
