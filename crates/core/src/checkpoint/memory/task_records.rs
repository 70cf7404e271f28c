//! The records about the tasks of a checkpoint.

use crate::checkpoint::{Payload, PayloadValue, TaskOutcome, TaskRecord};
use crate::checkpoint_id::CheckpointId;

/// Records about tasks, in the order of storage. As a rule an only task has finished, and only what
/// it wrote is kept.
#[derive(Clone)]
pub(super) enum TaskRecords {
    /// The first task has finished.
    Finished(PayloadValue),
    Any(Vec<TaskRecord>),
}

impl TaskRecords {
    pub(super) const fn new() -> Self {
        Self::Any(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Finished(_) => 1,
            Self::Any(records) => records.len(),
        }
    }

    /// Takes what the record holds.
    pub(super) fn push(&mut self, from: &mut TaskRecord) {
        let is_plain = from.task == 0
            && from.answers.is_empty()
            && from.once.is_empty()
            && from.joins.is_empty();
        let records = match self {
            Self::Any(records) => records,
            Self::Finished(done) => {
                let first = finished(from.checkpoint, done.clone());
                *self = Self::Any(vec![first]);
                return self.push(from);
            }
        };
        if let Some(TaskOutcome::Finished(Payload::Value(done))) = &from.outcome
            && is_plain
            && records.is_empty()
        {
            *self = Self::Finished(done.clone());
            return;
        }
        records.push(TaskRecord {
            checkpoint: from.checkpoint,
            task: from.task,
            outcome: from.outcome.take(),
            answers: std::mem::take(&mut from.answers),
            once: std::mem::take(&mut from.once),
            joins: std::mem::take(&mut from.joins),
        });
    }

    /// Adds the record of the first task's end.
    pub(super) fn push_finished(&mut self, checkpoint: CheckpointId, done: PayloadValue) {
        match self {
            Self::Any(records) if records.is_empty() => *self = Self::Finished(done),
            _ => self.push(&mut finished(checkpoint, done)),
        }
    }

    /// Drops all records but the first ones, up to this number.
    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Self::Finished(_) if len == 0 => *self = Self::new(),
            Self::Finished(_) => {}
            Self::Any(records) => records.truncate(len),
        }
    }

    /// Returns the records of that checkpoint.
    pub(super) fn to_vec(&self, checkpoint: CheckpointId) -> Vec<TaskRecord> {
        match self {
            Self::Finished(done) => vec![finished(checkpoint, done.clone())],
            Self::Any(records) => records.clone(),
        }
    }
}

fn finished(checkpoint: CheckpointId, done: PayloadValue) -> TaskRecord {
    TaskRecord::ended(checkpoint, 0, TaskOutcome::Finished(done.into()))
}
