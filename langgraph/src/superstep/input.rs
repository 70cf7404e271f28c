//! What comes in from outside: inputs, commands and updates.

use crate::graph::plan::Plan;
use crate::node::{Output, Write};
use crate::state::State;

/// Makes what comes in from outside ready to be merged: a state counts as an update, and whatever
/// is random is fixed.
pub(crate) fn enter<S: State>(plan: &Plan<S>, input: &mut Output<S>) {
    as_update(input);
    for write in input.writes.as_mut_slice() {
        if let Write::Update(update) | Write::Overwrite(update) = write {
            plan.initial.prepare(update);
        }
    }
}

/// A state that comes in from outside is an update: it goes through the reducers.
fn as_update<S: State>(input: &mut Output<S>) {
    for write in input.writes.as_mut_slice() {
        if let Write::State(state) = write {
            *write = Write::Update(S::clone(state).into());
        }
    }
}
