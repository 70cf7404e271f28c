//! What is stored with the next checkpoint.

use std::time::SystemTime;

use super::snapshot_policy::SnapshotPolicy;
use crate::checkpoint::{
    Batch, CheckpointId, CheckpointRecord, EntryRecord, JoinRecord, Payload, PayloadValue,
    RunStatus, TaskOutcome, TaskRecord,
};
use crate::interrupt::Answer;

/// The records that are stored with the next checkpoint, or before it if a task waits or fails.
#[derive(Default)]
pub(super) struct Held {
    /// What the first task of the current checkpoint wrote, while no other record is held of its tasks: as
    /// a rule it is the only one, and stored without a record.
    first: Option<(CheckpointId, Payload)>,
    /// The records about the current checkpoint. A saver in memory takes them out, so that the lists are
    /// filled again.
    batch: Batch,
    /// What is known of the next checkpoint's tasks, which has no id yet.
    known: Vec<(usize, KnownTask)>,
    /// True if the checkpoint that is added next is kept for the batch of the one behind it.
    pub(super) keeps_next: bool,
    /// How many records of tasks are held with such a checkpoint, and counted with it.
    counted: usize,
}

/// What is known of a task before its checkpoint is stored.
pub(super) enum KnownTask {
    Ended(TaskOutcome),
    Answered(Answer),
}

impl Held {
    /// Holds the result of a finished task of the current checkpoint.
    #[inline]
    pub(super) fn result(
        &mut self,
        checkpoint: CheckpointId,
        task: usize,
        done: Payload,
        joins: Vec<JoinRecord>,
    ) {
        if task == 0 && joins.is_empty() && self.first.is_none() && self.batch.tasks.is_empty() {
            self.first = Some((checkpoint, done));
            return;
        }
        self.task(TaskRecord {
            joins,
            ..finished(checkpoint, task, done)
        });
    }

    /// Holds a record about a task of the current checkpoint.
    pub(super) fn task(&mut self, record: TaskRecord) {
        self.make_record();
        self.batch.tasks.push(record);
    }

    /// Makes the first result a record among the others.
    fn make_record(&mut self) {
        if let Some((checkpoint, done)) = self.first.take() {
            self.batch.tasks.push(finished(checkpoint, 0, done));
        }
    }

    /// Holds an update of the current checkpoint from outside.
    pub(super) fn entry(&mut self, record: EntryRecord) {
        self.batch.entries.push(record);
    }

    /// Holds what is known of a task of the next checkpoint.
    pub(super) fn known(&mut self, task: usize, known: KnownTask) {
        self.known.push((task, known));
    }

    /// Returns true if there is no record about the current checkpoint.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.batch.tasks.is_empty() && !self.has_entries()
    }

    /// Returns true if nothing is held, of the next checkpoint neither.
    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        self.is_empty() && self.known.is_empty() && !self.has_checkpoint()
    }

    pub(super) fn has_entries(&self) -> bool {
        !self.batch.entries.is_empty()
    }

    /// Takes the value that the first task of the current checkpoint wrote, if nothing else is held.
    #[inline]
    pub(super) fn take_only_result(&mut self) -> Option<PayloadValue> {
        if self.has_entries() || self.has_checkpoint() || !self.known.is_empty() {
            return None;
        }
        match self.first.take() {
            Some((_, Payload::Value(done))) => Some(done),
            bytes => {
                self.first = bytes;
                None
            }
        }
    }

    /// Counts the records about the current checkpoint before they are stored.
    pub(super) fn count(&mut self, policy: &mut SnapshotPolicy) {
        self.make_record();
        policy.count_tasks(self.batch.tasks.get(self.counted..).unwrap_or_default());
        policy.count_entries(&self.batch.entries);
    }

    /// Counts what is known of the next checkpoint.
    pub(super) fn count_known(&self, policy: &mut SnapshotPolicy) {
        for (_, known) in &self.known {
            if let KnownTask::Ended(outcome) = known {
                policy.count_outcome(outcome);
            }
        }
    }

    /// Adds the next checkpoint, with what is known of it and an update from outside.
    pub(super) fn checkpoint(&mut self, record: CheckpointRecord, entry: Option<Payload>) {
        let checkpoint = record.id;
        self.make_record();
        for (task, known) in self.known.drain(..) {
            self.batch.tasks.push(match known {
                KnownTask::Ended(outcome) => TaskRecord::ended(checkpoint, task, outcome),
                KnownTask::Answered(answer) => TaskRecord::answered(checkpoint, task, vec![answer]),
            });
        }
        if let Some(writes) = entry {
            self.batch.entries.push(EntryRecord {
                checkpoint,
                writes,
                tasks: Vec::new(),
                order: Vec::new(),
            });
        }
        self.batch.checkpoints.push(record);
    }

    /// Returns true if the checkpoint that was added is kept for the next batch.
    pub(super) fn keeps_checkpoint(&mut self) -> bool {
        let keeps = std::mem::take(&mut self.keeps_next);
        if keeps {
            self.counted = self.batch.tasks.len();
        }
        keeps
    }

    /// Returns true if a checkpoint is held.
    pub(super) fn has_checkpoint(&self) -> bool {
        !self.batch.checkpoints.is_empty()
    }

    /// Returns the records, with the status of the run.
    pub(super) fn batch(&mut self, status: RunStatus, wake_at: Option<SystemTime>) -> &mut Batch {
        self.make_record();
        self.counted = 0;
        self.batch.status = status;
        self.batch.wake_at = wake_at;
        &mut self.batch
    }
}

/// The record of a task that has finished.
fn finished(checkpoint: CheckpointId, task: usize, done: Payload) -> TaskRecord {
    TaskRecord::ended(checkpoint, task, TaskOutcome::Finished(done))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Encoded, Formats, StoredValue};
    use crate::error::FormatError;

    struct Value;

    impl StoredValue for Value {
        fn encode(&self, _: usize, formats: &Formats) -> Result<Encoded, FormatError> {
            formats.encode(&1, 0)
        }

        fn state(&self) -> &'static str {
            "a value"
        }
    }

    fn value() -> Payload {
        Payload::of(Value)
    }

    #[test]
    fn bytes_are_no_link_and_stay() {
        let bytes = Encoded::new("json", 0, b"1".to_vec());
        let mut held = Held::default();
        held.result(CheckpointId::after(None), 0, bytes.into(), Vec::new());
        assert!(held.take_only_result().is_none());
        assert_eq!(held.batch(RunStatus::Running, None).tasks.len(), 1);
    }

    #[test]
    fn a_result_that_is_not_alone_is_a_record() {
        let current = CheckpointId::after(None);
        let mut held = Held::default();
        held.result(current, 0, value(), Vec::new());
        assert!(held.take_only_result().is_some());
        assert!(held.is_empty());

        held.result(current, 0, value(), Vec::new());
        held.result(current, 1, value(), Vec::new());
        assert!(held.take_only_result().is_none());
        let batch = held.batch(RunStatus::Running, None);
        let tasks: Vec<_> = batch.tasks.iter().map(|record| record.task).collect();
        assert_eq!(tasks, [0, 1]);
    }
}
