//! What tasks ask, and what they are told of earlier runs.

use super::machine::Machine;
use super::task::Task;
use crate::node::{Answer, Context, Interrupt, Questions};
use crate::state::State;

impl<S: State> Machine<S> {
    /// The questions of a task as the caller sees them.
    pub(crate) fn interrupts(
        &self,
        task: &Task<S>,
        index: usize,
        questions: Questions,
    ) -> Vec<Interrupt> {
        let (base, namespace) = (self.base(), &self.scope.namespace);
        let node = self.plan.node_name(task.node);
        questions.interrupts(&base, index, &node, namespace)
    }

    /// What the ids of questions of the current superstep begin with.
    fn base(&self) -> String {
        if let Some(checkpoint) = self.recorder.as_ref().and_then(|log| log.current()) {
            return checkpoint.to_string();
        }
        let path: Vec<_> = self.scope.namespace.iter().map(|name| &**name).collect();
        format!("{}#{}@{}", path.join("/"), self.call, self.step)
    }

    /// Tells a task what is known of it from earlier runs.
    pub(crate) fn remind(&self, cx: &mut Context, index: usize, task: &Task<S>) {
        if self.given.is_empty() {
            return cx.remember(task.answers(), task.once());
        }
        // A graph that keeps no log runs from its beginning: it finds its answers by their ids.
        let own = format!("{}:{index}:", self.base());
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
