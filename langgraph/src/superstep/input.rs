//! Inputs, commands and updates from outside.

use crate::graph::plan::Plan;
use crate::node::{Output, Write};
use crate::state::State;

/// Prepares an input for merging: a state becomes an update, so that it goes through the reducers,
/// and random values are fixed.
pub(crate) fn normalize_input<S: State>(plan: &Plan<S>, input: &mut Output<S>) {
    for write in input.writes.as_mut_slice() {
        if let Write::State(state) = write {
            *write = Write::Update(S::clone(state).into());
        }
        if let Write::Update(update) | Write::Overwrite(update) = write {
            plan.initial.prepare(update);
        }
    }
}
