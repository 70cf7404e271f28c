//! Folds the records of a checkpoint into the states of its tasks.

use super::{JoinRecord, OnceRecord, Payload, Stored, TaskOutcome, TaskRecord, TaskSpec};
use crate::interrupt::{Answer, Interrupts};
use langgraph_topology::START;

/// The state of a task after its records. Its payloads are not decoded.
#[derive(Clone, Debug, Default)]
pub struct TaskFold<'a> {
    /// Its last outcome; never [`TaskOutcome::Ran`].
    pub outcome: Option<&'a TaskOutcome>,
    /// The node's result, if its routers have interrupted since.
    pub ran: Option<&'a Payload>,
    /// The error of START's routers; the input that START has taken is kept.
    pub routing_error: Option<&'a str>,
    /// Its last interrupts, answered or not.
    pub interrupts: Option<&'a Interrupts>,
    /// The answers to interrupts that have not come up again since.
    pub answers: Vec<&'a Answer>,
    /// The results of its work that runs once.
    pub once: Vec<&'a OnceRecord>,
    /// The joins that its subgraphs have left with some of their sources.
    pub joins: Vec<&'a JoinRecord>,
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
            Some(outcome @ TaskOutcome::Interrupted(interrupts)) => {
                // START's input exists before its routers run.
                self.ran = self.written();
                self.routing_error = None;
                let Interrupts { own, inner, .. } = interrupts;
                // An interrupt that comes up again has lost its answer.
                self.answers.retain(|Answer { key, .. }| {
                    own.iter().all(|own| own.key != *key) && inner.iter().all(|i| i.id != *key)
                });
                self.interrupts = Some(interrupts);
                self.outcome = Some(outcome);
            }
            Some(TaskOutcome::Failed(error)) if is_start => self.routing_error = Some(error),
            Some(outcome @ TaskOutcome::Failed(_)) => self.outcome = Some(outcome),
            None => {}
        }
        self.once.extend(&record.once);
        self.joins.extend(&record.joins);
        for answer in &record.answers {
            self.answers.retain(|old| old.key != answer.key);
            self.answers.push(answer);
        }
    }

    /// Returns the writes of the task, if it has any.
    pub fn written(&self) -> Option<&'a Payload> {
        match self.outcome {
            Some(TaskOutcome::Finished(done)) => Some(done),
            _ => self.ran,
        }
    }
}

/// Returns the states of a checkpoint's tasks: its own, then those that joined in. A record of a task
/// that it does not have is damage, and ignored here.
pub fn fold_tasks(stored: &Stored) -> Vec<TaskFold<'_>> {
    let mut tasks = vec![TaskFold::default(); stored.task_count()];
    let added = stored.entries.iter().flat_map(|entry| &entry.tasks);
    let specs: Vec<&TaskSpec> = stored.checkpoint.tasks.iter().chain(added).collect();
    for record in &stored.tasks {
        let spec = specs.get(record.task);
        if let Some(task) = tasks.get_mut(record.task) {
            task.add(record, spec.is_some_and(|spec| &*spec.node == START));
        }
    }
    tasks
}

/// Returns the numbers of tasks, in the order in which their writes are merged: those that have an `order`, and then
/// the others.
pub fn merge_order(order: &[usize], tasks: usize) -> impl Iterator<Item = usize> {
    order.iter().copied().chain(order.len()..tasks)
}

impl Stored {
    /// Returns the order in which its first tasks are merged, if it is not that of their numbers.
    pub fn order(&self) -> &[usize] {
        let mut orders = self.entries.iter().rev().map(|entry| &*entry.order);
        orders.find(|order| !order.is_empty()).unwrap_or_default()
    }

    /// Returns the numbers of its tasks, in the order in which their writes are merged.
    pub fn merge_order(&self) -> impl Iterator<Item = usize> {
        merge_order(self.order(), self.task_count())
    }

    /// Returns the number of its tasks, with those that joined in.
    pub fn task_count(&self) -> usize {
        let joined = self.entries.iter().map(|entry| entry.tasks.len());
        self.checkpoint.tasks.len() + joined.sum::<usize>()
    }

    /// Fails unless each task of the checkpoint itself has left its writes, as the next superstep
    /// needs them.
    ///
    /// # Errors
    ///
    /// What is missing, in words.
    pub fn all_written(&self) -> Result<(), String> {
        let folded = fold_tasks(self);
        let written = |task: usize| {
            folded
                .get(task)
                .is_some_and(|task| task.written().is_some())
        };
        let tasks = self.checkpoint.tasks.iter().enumerate();
        let mut missing = tasks.filter(|(index, _)| !written(*index));
        match missing.next() {
            None => Ok(()),
            Some((index, spec)) => Err(format!(
                "what task {index} (`{}`) of checkpoint `{}` wrote is missing",
                spec.node, self.checkpoint.id
            )),
        }
    }
}
