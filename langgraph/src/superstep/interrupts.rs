//! Interrupts of tasks, and the memory of earlier runs.

use super::moment::Moment;
use super::task::Task;
use crate::checkpoint::CheckpointId;
use crate::node::{Answer, Context, Interrupt, Questions};
use crate::state::State;

/// The identity of a graph's interrupts, and its answers.
#[derive(Default)]
pub(crate) struct Asking {
    /// The number of the call in its task.
    pub(crate) call: usize,
    /// The answers of the task, for a graph without a log of its own: it runs from the start and
    /// finds the answers by their ids.
    pub(crate) given: Vec<Answer>,
}

impl Asking {
    /// Returns the prefix of interrupt ids in the current superstep.
    fn base<S: State>(&self, current: Option<CheckpointId>, at: &Moment<'_, S>) -> String {
        if let Some(checkpoint) = current {
            return checkpoint.to_string();
        }
        let path = at.scope.namespace.join("/");
        format!("{path}#{}@{}", self.call, at.step)
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
        at: &Moment<'_, S>,
        task: &Task<S>,
        index: usize,
        questions: Questions,
    ) -> Vec<Interrupt> {
        let base = self.base(current, at);
        let node = at.plan.name(task.node);
        questions.interrupts(&base, index, &node, &at.scope.namespace)
    }

    /// Restores a task's memory of earlier runs.
    pub(crate) fn restore_memory<S: State>(
        &self,
        current: Option<CheckpointId>,
        at: &Moment<'_, S>,
        cx: &mut Context,
        index: usize,
        task: &Task<S>,
    ) {
        if self.given.is_empty() {
            return cx.remember(task.answers(), task.once());
        }
        let own = format!("{}:{index}:", self.base(current, at));
        cx.remember(&self.answers_to(&own, task.answers()), task.once());
    }
}
