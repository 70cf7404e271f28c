//! Merges an update into a state.

use super::Writer;
use crate::error::{InvalidUpdate, Panicked, ReducerError};
use crate::graph::plan::Plan;
use crate::node::caught;
use crate::state::State;

/// Merges the update of a node. A panic of a reducer ends the run, not the program, and leaves a
/// readable thread.
#[inline]
pub(crate) fn merge<S: State>(
    plan: &Plan<S>,
    writer: Writer,
    state: &mut S,
    update: S::Update,
) -> Result<(), InvalidUpdate> {
    match caught(|| state.try_merge(update)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(source)) => Err(refused(plan, writer, source)),
        Err(panicked) => Err(panicked_merging(plan, writer, panicked)),
    }
}

/// The error of a reducer that refused a node's update.
#[cold]
fn refused<S: State>(plan: &Plan<S>, writer: Writer, source: ReducerError) -> InvalidUpdate {
    InvalidUpdate::Reducer {
        writer: writer.named(plan),
        source,
    }
}

/// The error of a reducer that panicked.
#[cold]
fn panicked_merging<S: State>(plan: &Plan<S>, writer: Writer, panicked: Panicked) -> InvalidUpdate {
    InvalidUpdate::Panicked {
        writer: writer.named(plan),
        message: panicked.into_message(),
    }
}
