//! Interrupts of tasks, and the memory of earlier runs.

use super::Position;
use super::Task;
use crate::checkpoint::CheckpointId;
use crate::interrupt::{Answer, Interrupt, Interrupts};
use crate::node::Context;
use crate::state::State;

/// The identity of a graph's interrupts, and its answers.
#[derive(Default)]
pub(crate) struct InterruptIds {
    /// The number of the call in its task.
    pub(crate) call: usize,
    /// The answers of the task, for a graph without a log of its own: it runs from the start and
    /// finds the answers by their ids.
    pub(crate) given: Vec<Answer>,
}

impl InterruptIds {
    /// Returns the prefix of interrupt ids in the current superstep.
    fn base<S: State>(&self, current: Option<CheckpointId>, position: &Position<S>) -> String {
        if let Some(checkpoint) = current {
            return checkpoint.to_string();
        }
        let path = position.scope.path.join("/");
        format!("{path}#{}@{}", self.call, position.step)
    }

    /// Returns the answers to a task's interrupts, whose ids begin with `own`.
    fn answers_to(&self, own: &str, known: &[Answer]) -> Vec<Answer> {
        let given = self.given.iter().map(|answer| Answer {
            key: answer
                .key
                .strip_prefix(own)
                .unwrap_or(&answer.key)
                .to_owned(),
            value: answer.value.clone(),
        });
        given.chain(known.iter().cloned()).collect()
    }

    /// Returns the interrupts of a task as the caller sees them.
    pub(crate) fn interrupts<S: State>(
        &self,
        current: Option<CheckpointId>,
        position: &Position<S>,
        task: &Task<S>,
        index: usize,
        questions: Interrupts,
    ) -> Vec<Interrupt> {
        let base = self.base(current, position);
        let node = position.plan.name(task.node);
        questions.interrupts(&base, index, &node, &position.scope.path)
    }

    /// Restores a task's memory of earlier runs.
    pub(crate) fn restore_memory<S: State>(
        &self,
        current: Option<CheckpointId>,
        position: &Position<S>,
        cx: &mut Context,
        index: usize,
        task: &Task<S>,
    ) {
        if self.given.is_empty() {
            return cx.remember(task.answers(), task.once());
        }
        let own = format!("{}:{index}:", self.base(current, position));
        cx.remember(&self.answers_to(&own, task.answers()), task.once());
    }
}
