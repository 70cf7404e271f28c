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
    /// The answers of the task, for a graph without a log of its own: it runs from the start and
    /// finds the answers by their ids.
    pub(crate) given: Vec<Answer>,
}

impl InterruptIds {
    /// Returns the prefix of interrupt ids in the current superstep.
    fn base<S: State>(current: Option<CheckpointId>, position: &Position<S>) -> String {
        if let Some(checkpoint) = current {
            return checkpoint.to_string();
        }
        format!("{}@{}", position.scope.path.of_call(), position.step)
    }

    /// Returns the answers to a task's interrupts, whose ids begin with `own`, and to those of graphs in it, whose ids
    /// begin with `inner`. An answer to another task, which may have the same key, is not for this one.
    fn answers_to(&self, own: &str, inner: &str, known: &[Answer]) -> Vec<Answer> {
        let given = self.given.iter().filter_map(|answer| {
            let id = &answer.key;
            let key = id
                .strip_prefix(own)
                .or_else(|| id.starts_with(inner).then_some(id))?;
            Some(Answer {
                key: key.to_owned(),
                value: answer.value.clone(),
            })
        });
        given.chain(known.iter().cloned()).collect()
    }

    /// Returns the interrupts of a task as the caller sees them.
    pub(crate) fn interrupts<S: State>(
        current: Option<CheckpointId>,
        position: &Position<S>,
        task: &Task<S>,
        index: usize,
        questions: Interrupts,
    ) -> Vec<Interrupt> {
        let base = Self::base(current, position);
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
        let own = format!("{}:{index}:", Self::base(current, position));
        let inner = format!("{}/", position.scope.path.of_call());
        cx.remember(&self.answers_to(&own, &inner, task.answers()), task.once());
    }
}
