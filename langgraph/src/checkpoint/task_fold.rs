//! What the records of a checkpoint say about its tasks.

use super::interrupt::{Answer, Questions};
use super::once_record::OnceRecord;
use super::{Payload, Stored, TaskOutcome, TaskRecord};
use langgraph_topology::START;

/// A task as its records leave it, one after the other. What it did is not decoded.
#[derive(Clone, Default)]
pub(crate) struct TaskFold<'a> {
    /// How it ended last; never [`TaskOutcome::Ran`].
    pub(crate) outcome: Option<&'a TaskOutcome>,
    /// What the node did, when its routers have asked since.
    pub(crate) ran: Option<&'a Payload>,
    /// Why START's routers failed; the input that START has taken up is kept all the same.
    pub(crate) routing_error: Option<&'a str>,
    /// What it asked last, answered or not.
    pub(crate) asked: Option<&'a Questions>,
    /// The answers that it has got to questions that it has not asked again since.
    pub(crate) answers: Vec<&'a Answer>,
    pub(crate) once: Vec<&'a OnceRecord>,
}

impl<'a> TaskFold<'a> {
    fn add(&mut self, record: &'a TaskRecord, is_start: bool) {
        match &record.outcome {
            Some(outcome @ TaskOutcome::Finished(_)) => {
                self.outcome = Some(outcome);
                self.routing_error = None;
                self.ran = None;
            }
            Some(TaskOutcome::Ran(done)) => self.ran = Some(done),
            Some(outcome @ TaskOutcome::Asked(asked)) => {
                // START's input is there before its routers are asked.
                self.ran = self.written();
                self.routing_error = None;
                let Questions { own, inner, .. } = &asked.0;
                // A question that is asked again has no answer any more.
                self.answers.retain(|Answer { key, .. }| {
                    own.iter().all(|own| own.key != *key) && inner.iter().all(|i| i.id != *key)
                });
                self.asked = Some(&asked.0);
                self.outcome = Some(outcome);
            }
            Some(TaskOutcome::Failed(error)) if is_start => self.routing_error = Some(error),
            Some(outcome @ TaskOutcome::Failed(_)) => self.outcome = Some(outcome),
            None => {}
        }
        self.once.extend(&record.once);
        for answer in &record.answers {
            self.answers.retain(|old| old.key != answer.key);
            self.answers.push(answer);
        }
    }

    /// What the task has written, if it has come that far.
    pub(crate) fn written(&self) -> Option<&'a Payload> {
        match self.outcome {
            Some(TaskOutcome::Finished(done)) => Some(done),
            _ => self.ran,
        }
    }
}

/// What has become of the tasks of a checkpoint: its own, then those that joined in. The last ones
/// may be missing, if nothing is recorded of them.
pub(crate) fn fold_tasks(stored: &Stored) -> Vec<TaskFold<'_>> {
    let mut tasks: Vec<TaskFold<'_>> = Vec::new();
    for record in &stored.tasks {
        if tasks.len() <= record.task {
            tasks.resize(record.task + 1, TaskFold::default());
        }
        let spec = stored.checkpoint.tasks.get(record.task);
        if let Some(task) = tasks.get_mut(record.task) {
            task.add(record, spec.is_some_and(|spec| &*spec.node == START));
        }
    }
    tasks
}
