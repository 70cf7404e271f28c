//! The empty lists of the last superstep.

use super::committed::Direction;
use crate::node::Writes;
use crate::state::State;
use crate::superstep::executor::TaskSlot;
use crate::superstep::task::Task;
use crate::superstep::writer::Writer;

/// Longer lists are freed: one wide superstep must not hold its memory for the rest of the run.
const LONGEST: usize = 64;

/// Lists that a superstep has emptied, for the next one to fill.
pub(super) struct Spare<S: State> {
    pub(super) tasks: Vec<Task<S>>,
    pub(super) slots: Vec<TaskSlot<S>>,
    pub(super) writes: Vec<(Writer, Writes<S>)>,
    pub(super) directions: Vec<Direction<S>>,
}

impl_default!([S: State] Spare<S> { tasks, slots, writes, directions });

/// Empties a list, and keeps its memory unless it is much.
pub(super) fn emptied<T>(mut list: Vec<T>) -> Vec<T> {
    if list.capacity() > LONGEST {
        return Vec::new();
    }
    list.clear();
    list
}
