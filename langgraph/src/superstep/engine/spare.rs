//! The empty lists of the last superstep.

use super::committed::Direction;
use crate::state::State;
use crate::superstep::executor::TaskSlot;
use crate::superstep::task::Task;

/// Longer lists are freed: one wide superstep must not hold its memory for the rest of the run.
const LONGEST: usize = 64;

/// Lists that a superstep has emptied, for the next one to fill.
pub(super) struct Spare<S: State> {
    pub(super) tasks: Vec<Task<S>>,
    pub(super) slots: Vec<TaskSlot<S>>,
    pub(super) directions: Vec<Direction<S>>,
}

impl_default!([S: State] Spare<S> { tasks, slots, directions });

/// Takes an empty list, with room for so many.
pub(super) fn taken<T>(spare: &mut Vec<T>, room: usize) -> Vec<T> {
    let mut list = std::mem::take(spare);
    list.reserve_exact(room);
    list
}

/// Empties a list, and keeps its memory unless it is much.
pub(super) fn emptied<T>(mut list: Vec<T>) -> Vec<T> {
    if list.capacity() > LONGEST {
        return Vec::new();
    }
    list.clear();
    list
}
