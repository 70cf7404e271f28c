//! How often each task of a run has failed.

use std::collections::{HashMap, VecDeque};

/// How many tasks are counted: of more that fail side by side, the oldest begin again at 0, and get their old
/// replies.
const TASKS: usize = 65_536;

/// Counts the failures of tasks, by a text that the attempts of a task in a run share.
///
/// A node with a retry policy that is a graph runs a task inside again after it has failed. Restate would answer
/// with the old reply, so that each failure gives the task a new name. A driver that takes up the superstep is
/// another run: it counts from 0, gets the old replies in their order, and so goes on where the first one stood.
#[derive(Debug, Default)]
pub(super) struct Failures {
    counts: HashMap<String, u32>,
    /// The oldest first.
    tasks: VecDeque<String>,
}

impl Failures {
    /// Returns how often the task has failed.
    pub(super) fn of(&self, task: &str) -> u32 {
        self.counts.get(task).copied().unwrap_or(0)
    }

    /// Counts a failure.
    pub(super) fn count(&mut self, task: String) {
        if let Some(count) = self.counts.get_mut(&task) {
            *count += 1;
            return;
        }
        if self.tasks.len() >= TASKS
            && let Some(oldest) = self.tasks.pop_front()
        {
            self.counts.remove(&oldest);
        }
        self.tasks.push_back(task.clone());
        self.counts.insert(task, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_for_each_task_and_only_for_so_many() {
        let mut failures = Failures::default();
        failures.count("a".to_owned());
        failures.count("a".to_owned());
        failures.count("b".to_owned());
        assert_eq!(["a", "b", "c"].map(|task| failures.of(task)), [2, 1, 0]);
        for task in 0..TASKS - 1 {
            failures.count(task.to_string());
        }
        assert_eq!(["a", "b", "0"].map(|task| failures.of(task)), [0, 1, 1]);
        assert_eq!(failures.counts.len(), TASKS);
    }
}
