//! The slot of a task in its superstep.

use std::sync::{Mutex, PoisonError};

use crate::node::Context;
use crate::state::State;
use crate::superstep::task::Task;
use crate::superstep::task_result::TaskResult;

/// A task, its context, and its result.
pub(in crate::superstep) struct TaskSlot<S: State> {
    pub(in crate::superstep) task: Task<S>,
    pub(in crate::superstep) cx: Context,
    /// True if the result comes from an earlier run: the task does not run.
    pub(in crate::superstep) known: bool,
    /// The result of the task, once it has ended. The lock never blocks: a task locks it once, at
    /// its end.
    result: Mutex<Option<TaskResult<S>>>,
}

impl<S: State> TaskSlot<S> {
    pub(in crate::superstep) fn new(mut task: Task<S>, cx: Context) -> Self {
        let result = task.take_result();
        Self {
            task,
            cx,
            known: result.is_some(),
            result: Mutex::new(result),
        }
    }

    /// Returns the task and its result, by reference.
    pub(in crate::superstep) fn parts(&mut self) -> (&Task<S>, Option<&TaskResult<S>>) {
        let result = self.result.get_mut();
        let result = result.unwrap_or_else(PoisonError::into_inner);
        (&self.task, result.as_ref())
    }

    /// Takes the result of the task.
    pub(in crate::superstep) fn take_result(&self) -> Option<TaskResult<S>> {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.take()
    }

    /// Sets the result of the task.
    pub(in crate::superstep) fn set_result(&self, how: TaskResult<S>) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        *result = Some(how);
    }

    /// Returns the task, its context and its result.
    pub(in crate::superstep) fn into_parts(self) -> (Task<S>, Context, Option<TaskResult<S>>) {
        let result = self.result.into_inner();
        let result = result.unwrap_or_else(PoisonError::into_inner);
        (self.task, self.cx, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_of_a_map_takes_little_room_before_it_starts_and_after_it_has_ended() {
        let size = size_of::<TaskSlot<i64>>();
        assert!(size <= 232, "{size} bytes for each item");
    }
}
