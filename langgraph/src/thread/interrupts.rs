//! Interrupts of a checkpoint's tasks.

use super::loaded::Loaded;
use super::task_state::TaskState;
use crate::graph::NodeName;
use crate::interrupt::{Interrupt, Interrupts};
use crate::state::State;
use crate::task::TaskResult;

impl<S: State> TaskState<S> {
    fn has_answer(&self, key: &str) -> bool {
        self.answers.iter().any(|answer| answer.key == key)
    }

    /// Returns true if the task waits for an answer and has none.
    pub(crate) fn waits(&self) -> bool {
        match &self.result {
            Some(TaskResult::Interrupted(open)) => {
                let Interrupts { own, inner, again } = &open.interrupts;
                let asked = own.is_some() || !inner.is_empty();
                let answered = own.iter().any(|own| self.has_answer(&own.key))
                    || inner.iter().any(|inner| self.has_answer(&inner.id));
                asked && !answered && !again
            }
            _ => false,
        }
    }

    pub(crate) fn questions(
        &self,
        base: &str,
        index: usize,
        namespace: &[NodeName],
        all: bool,
    ) -> Vec<Interrupt> {
        let questions = match &self.result {
            Some(TaskResult::Interrupted(open)) => Some(&open.interrupts),
            _ if all => self.asked.as_ref(),
            _ => None,
        };
        let Some(mut questions) = questions.cloned() else {
            return Vec::new();
        };
        if !all {
            questions.own = questions.own.filter(|own| !self.has_answer(&own.key));
            questions.inner.retain(|inner| !self.has_answer(&inner.id));
        }
        questions.interrupts(base, index, &self.node, namespace)
    }
}

impl<S: State> Loaded<S> {
    /// Returns the interrupts without an answer.
    pub(crate) fn open(&self, namespace: &[NodeName]) -> Vec<(usize, Interrupt)> {
        self.questions(namespace, false)
    }

    /// Returns all interrupts, answered or not.
    pub(crate) fn all(&self, namespace: &[NodeName]) -> Vec<(usize, Interrupt)> {
        self.questions(namespace, true)
    }

    fn questions(&self, namespace: &[NodeName], all: bool) -> Vec<(usize, Interrupt)> {
        let base = self.stored.checkpoint.id.to_string();
        let tasks = self.tasks.iter().enumerate();
        tasks
            .flat_map(|(index, task)| {
                task.questions(&base, index, namespace, all)
                    .into_iter()
                    .map(move |i| (index, i))
            })
            .collect()
    }
}
