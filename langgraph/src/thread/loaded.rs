//! A thread as it was loaded.

use std::sync::Arc;

use super::task_state::TaskState;
use crate::checkpoint::{Head, JoinRecord, Owner, Stored};
use crate::graph::{NodeName, START};
use crate::interrupt::Answer;
use crate::node::{Argument, Output};
use crate::state::{State, TrackedState, WrittenFields};
use crate::task::{Changes, TaskResult};

/// The state of a thread at one of its checkpoints.
pub(crate) struct Loaded<S: State> {
    pub(crate) state: Arc<S>,
    pub(crate) written: WrittenFields,
    pub(crate) stored: Stored,
    pub(crate) head: Head,
    /// What the log belongs to, if that is stored.
    pub(crate) owner: Option<Arc<Owner>>,
    pub(crate) tasks: Vec<TaskState<S>>,
    /// All changes since the beginning of the log.
    pub(crate) changes: Option<Changes<S>>,
}

impl<S: State> Loaded<S> {
    /// Returns the state that the node of a task gets.
    pub(super) fn state_of(&self, task: &TaskState<S>) -> TrackedState<S> {
        match &task.argument {
            Some(Argument::State(state)) => TrackedState::unknown(Arc::clone(state)),
            _ => TrackedState {
                state: Arc::clone(&self.state),
                written: self.written.clone(),
            },
        }
    }

    /// Returns true for the newest checkpoint of the log.
    pub(super) fn is_head(&self) -> bool {
        self.head.id == self.stored.checkpoint.id
    }

    /// Returns the node where a run goes on without further answers; `None` if nothing is left to do, or
    /// every task that has not ended waits.
    pub(crate) fn goes_on_at(&self) -> Option<&NodeName> {
        let mut tasks = self.tasks.iter();
        let cut_off = tasks.find(|task| !task.waits() && !task.is_finished());
        let waits = self.tasks.iter().any(TaskState::waits);
        let ended = self.tasks.first().filter(|_| !waits);
        cut_off.or(ended).map(|task| &task.node)
    }

    /// Returns true if the latest run has stopped before its end: a task is pending that is not an input.
    pub(crate) fn has_stopped(&self) -> bool {
        self.tasks.iter().any(|task| &*task.node != START)
    }

    /// Returns the joins that subgraphs have left when they ended: before the checkpoint, and in its tasks
    /// if `with_tasks`.
    pub(super) fn left_joins(&self, with_tasks: bool) -> Vec<&JoinRecord> {
        let mut left = Vec::new();
        for join in &self.stored.checkpoint.joins {
            if !join.namespace.is_empty() {
                left.push(join);
            }
        }
        if with_tasks {
            for task in &self.tasks {
                left.extend(&task.joins);
            }
        }
        left
    }

    /// Removes and returns the inputs that were accepted while the tasks of the head waited for answers,
    /// as one. They stay with the thread, whatever becomes of these tasks. Those of an older checkpoint
    /// are part of the branch that was continued from it.
    pub(crate) fn take_kept_input(&mut self) -> Option<Output<S>> {
        if !self.is_head() {
            return None;
        }
        let kept = self.tasks.extract_if(.., |task| task.kept_input);
        let inputs = kept.filter_map(|task| match task.result {
            Some(TaskResult::Finished(input)) => Some(input.output),
            _ => None,
        });
        inputs.reduce(|earlier, input| input.after(earlier))
    }

    /// Drops the tasks of an older checkpoint, with what they have finished: it is part of the branch that was
    /// continued from it.
    pub(crate) fn drop_tasks_of_the_past(&mut self) {
        if !self.is_head() {
            self.tasks.clear();
        }
    }

    /// Leaves the state alone: the rest is of a call that has ended, or that the graph around it has left.
    pub(super) fn forget_call(&mut self) {
        self.tasks.clear();
        self.stored.checkpoint.deferred.clear();
        self.forget_ended_run();
    }

    /// Forgets the joins and the counts of a run that has ended: the next input begins anew.
    pub(super) fn forget_ended_run(&mut self) {
        let checkpoint = &mut self.stored.checkpoint;
        if self.tasks.is_empty() && checkpoint.deferred.is_empty() {
            checkpoint.joins.clear();
            checkpoint.followed.clear();
        }
    }

    /// Drops the tasks that a copy of the checkpoint leaves out: those that joined in, except for tasks that have
    /// an answer, and for kept inputs of the head. The answers get the new indices of their tasks.
    pub(super) fn retain_copied(&mut self, answers: &mut [(usize, Answer)]) {
        let is_head = self.is_head();
        let tasks = std::mem::take(&mut self.tasks);
        for (old, task) in tasks.into_iter().enumerate() {
            let is_kept_input = is_head && task.kept_input;
            let mut its_answers = answers
                .iter_mut()
                .filter(|(task, _)| *task == old)
                .peekable();
            if !task.joined_in || is_kept_input || its_answers.peek().is_some() {
                // No new index is greater than its old one, so none is changed twice.
                its_answers.for_each(|(index, _)| *index = self.tasks.len());
                self.tasks.push(task);
            }
        }
    }
}
