//! Tasks to be sent to workers: those that are ready at the same time share a message.

use std::collections::BTreeMap;

use crate::protocol::{MESSAGE_OVERHEAD, TaskSent};

/// The tasks of the next message to each worker.
#[derive(Default)]
pub(super) struct Outbox(BTreeMap<String, Vec<TaskSent>>);

impl Outbox {
    /// Adds a task.
    pub(super) fn add(&mut self, worker: &str, task: TaskSent) {
        match self.0.get_mut(worker) {
            Some(tasks) => tasks.push(task),
            None => {
                self.0.insert(worker.to_owned(), vec![task]);
            }
        }
    }

    /// Removes a task that has not been sent.
    pub(super) fn remove(&mut self, worker: &str, number: u64) -> Option<TaskSent> {
        let tasks = self.0.get_mut(worker)?;
        let index = tasks.iter().position(|task| task.task == number)?;
        Some(tasks.remove(index))
    }

    /// Removes all tasks, in messages of at most `limit` bytes.
    pub(super) fn take(&mut self, limit: usize) -> Vec<(String, Vec<TaskSent>)> {
        let mut messages = Vec::with_capacity(self.0.len());
        for (worker, tasks) in std::mem::take(&mut self.0) {
            let (mut message, mut bytes) = (Vec::with_capacity(tasks.len()), MESSAGE_OVERHEAD);
            for task in tasks {
                bytes += task.bytes();
                if bytes > limit && !message.is_empty() {
                    messages.push((worker.clone(), std::mem::take(&mut message)));
                    bytes = MESSAGE_OVERHEAD + task.bytes();
                }
                message.push(task);
            }
            messages.push((worker, message));
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Body;

    fn task(number: u64, name: usize) -> TaskSent {
        TaskSent {
            task: number,
            offer: 0,
            state: String::new(),
            order: Body::Stored("x".repeat(name)),
        }
    }

    #[test]
    fn tasks_share_messages_up_to_their_limit_and_stay_in_order() {
        let mut outbox = Outbox::default();
        for number in 0..10 {
            outbox.add("a", task(number, 1_000));
        }
        outbox.add("b", task(10, 50_000));
        assert_eq!(outbox.remove("a", 3).map(|task| task.task), Some(3));
        assert!(outbox.remove("a", 3).is_none());
        let messages = outbox.take(5_000);
        let numbers: Vec<Vec<u64>> = messages
            .iter()
            .map(|(_, tasks)| tasks.iter().map(|task| task.task).collect())
            .collect();
        assert_eq!(numbers.concat(), [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]);
        assert!(numbers.len() > 3 && numbers[0].len() > 1, "{numbers:?}");
        let sizes = messages
            .iter()
            .map(|(_, tasks)| tasks.iter().map(TaskSent::bytes).sum::<usize>());
        assert!(sizes.take(numbers.len() - 1).all(|bytes| bytes <= 5_000));
        assert!(outbox.take(5_000).is_empty());
    }
}
