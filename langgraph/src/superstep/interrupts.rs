//! What tasks ask, and what they are told of earlier runs.

use super::moment::Moment;
use super::task::Task;
use crate::checkpoint::CheckpointId;
use crate::node::{Answer, Context, Interrupt, Questions};
use crate::state::State;

/// How the questions of a graph are told apart, and the answers it was given.
#[derive(Default)]
pub(crate) struct Asking {
    /// Which call of its task it is.
    pub(crate) call: usize,
    /// The answers that the task was given, for a graph without a log of its own: it runs from its
    /// beginning and finds them by their ids.
    pub(crate) given: Vec<Answer>,
}

impl Asking {
    /// What the ids of questions of the current superstep begin with.
    fn base<S: State>(&self, current: Option<CheckpointId>, at: &Moment<'_, S>) -> String {
        if let Some(checkpoint) = current {
            return checkpoint.to_string();
        }
        let path: Vec<_> = at.scope.namespace.iter().map(|name| &**name).collect();
        format!("{}#{}@{}", path.join("/"), self.call, at.step)
    }

    /// The questions of a task as the caller sees them.
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

    /// Gives a task back what is known of it from earlier runs.
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
        let answers = self.given.iter().map(|answer| Answer {
            key: answer
                .key
                .strip_prefix(&own)
                .unwrap_or(&answer.key)
                .to_owned(),
            value: answer.value.clone(),
        });
        let answers: Vec<_> = answers.chain(task.answers().iter().cloned()).collect();
        cx.remember(&answers, task.once());
    }
}
