//! Whether today's graph still asks what was answered.

use std::collections::{BTreeMap, BTreeSet};

use langgraph::checkpoint::{Stored, TaskOutcome, TaskRecord};
use langgraph_core::checkpoint::{TaskFold, fold_tasks};
use langgraph_core::interrupt::{Interrupts, OwnInterrupt};

/// The answered interrupts of the tasks of a superstep, as far as they have not come up again.
pub(super) struct Answered {
    withheld: BTreeMap<usize, Vec<OwnInterrupt>>,
    /// Tasks in which nothing can ask again.
    given_up: Vec<usize>,
}

impl Answered {
    /// Finds the answered interrupts of the tasks that run again.
    pub(super) fn of(stored: &Stored, runs: &BTreeSet<usize>) -> Self {
        let folded = fold_tasks(stored);
        let mut answered = BTreeMap::<usize, Vec<OwnInterrupt>>::new();
        for record in &stored.tasks {
            let Some(TaskOutcome::Interrupted(interrupts)) = &record.outcome else {
                continue;
            };
            let (Some(own), Some(fold)) = (&interrupts.own, folded.get(record.task)) else {
                continue;
            };
            let is_answered = fold.answers.iter().any(|answer| answer.key == own.key);
            if is_answered && runs.contains(&record.task) {
                let task = answered.entry(record.task).or_default();
                task.retain(|earlier| earlier.key != own.key);
                task.push(own.clone());
            }
        }
        Self {
            withheld: answered,
            given_up: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.withheld.is_empty()
    }

    pub(super) fn contains(&self, task: usize) -> bool {
        self.withheld.contains_key(&task)
    }

    /// Gives up the questions of a task.
    pub(super) fn give_up(&mut self, task: usize) {
        self.withheld.remove(&task);
        self.given_up.push(task);
    }

    /// Returns the tasks whose questions were given up.
    pub(super) fn into_given_up(self) -> Vec<usize> {
        self.given_up
    }

    /// Takes the withheld answers from the memory of a task, and the results of work that ran once since
    /// the first of them was asked for.
    pub(super) fn withhold(&self, stored: &Stored, memory: &mut TaskRecord) {
        let Some(own) = self.withheld.get(&memory.task) else {
            return;
        };
        let is_withheld = |key: &str| own.iter().any(|own| own.key == key);
        memory.answers.retain(|answer| !is_withheld(&answer.key));
        let asks = |record: &TaskRecord| match &record.outcome {
            Some(TaskOutcome::Interrupted(Interrupts { own: Some(own), .. })) => {
                is_withheld(&own.key)
            }
            _ => false,
        };
        let mut has_asked = false;
        let before = stored.tasks.iter().filter(|record| {
            let is_before = !has_asked && record.task == memory.task;
            has_asked |= record.task == memory.task && asks(record);
            is_before
        });
        memory.once = before.flat_map(|record| record.once.clone()).collect();
    }

    /// Removes the interrupts that have come up again.
    ///
    /// # Errors
    ///
    /// The first task that asks for none of its answers, and its first interrupt.
    pub(super) fn remove(&mut self, now: &[TaskFold<'_>]) -> Result<(), (usize, OwnInterrupt)> {
        for (task, expected) in &mut self.withheld {
            let asked = now.get(*task).and_then(|fold| match fold.outcome {
                Some(TaskOutcome::Interrupted(interrupts)) => interrupts.own.as_ref(),
                _ => None,
            });
            let found = asked.and_then(|asked| {
                let is_it = |expected: &OwnInterrupt| expected.key == asked.key;
                expected.iter().position(is_it)
            });
            match (found, expected.first()) {
                (Some(found), _) => {
                    expected.remove(found);
                }
                (None, Some(first)) => return Err((*task, first.clone())),
                (None, None) => {}
            }
        }
        self.withheld.retain(|_, expected| !expected.is_empty());
        Ok(())
    }
}
