//! A checkpoint with its records, as memory keeps it.

use super::few::Few;
use crate::checkpoint::{
    CheckpointRecord, EntryRecord, StatePart, Stored, TaskOutcome, TaskRecord, TaskSpec,
};
use crate::checkpoint_id::CheckpointId;

/// A checkpoint with its records. Most have one task with one record, which need no allocation.
#[derive(Clone)]
pub(super) struct Record {
    /// The checkpoint, without its tasks.
    pub(super) checkpoint: CheckpointRecord,
    specs: Few<TaskSpec>,
    pub(super) tasks: Few<TaskRecord>,
    pub(super) entries: Vec<EntryRecord>,
}

impl Record {
    #[inline]
    pub(super) fn new(mut checkpoint: CheckpointRecord) -> Self {
        Self {
            specs: std::mem::take(&mut checkpoint.tasks).into(),
            tasks: Few::default(),
            entries: Vec::new(),
            checkpoint,
        }
    }

    pub(super) fn id(&self) -> CheckpointId {
        self.checkpoint.id
    }

    /// Returns the checkpoint that the state is based on, if there is no snapshot.
    pub(super) fn needed_base(&self) -> Option<CheckpointId> {
        let base = self.checkpoint.base.map(|base| base.id);
        base.filter(|_| self.checkpoint.snapshot.is_none())
    }

    /// Returns the number of records beside the checkpoint.
    pub(super) fn len(&self) -> usize {
        self.tasks.as_slice().len() + self.entries.len()
    }

    /// Returns the checkpoint with its tasks.
    pub(super) fn to_checkpoint(&self) -> CheckpointRecord {
        CheckpointRecord {
            tasks: self.specs.as_slice().to_vec(),
            ..self.checkpoint.clone()
        }
    }

    pub(super) fn to_stored(&self) -> Stored {
        Stored {
            checkpoint: self.to_checkpoint(),
            tasks: self.tasks.as_slice().to_vec(),
            entries: self.entries.clone(),
        }
    }

    /// See [`StatePart::visit_each`].
    pub(super) fn visit_parts(&self, with_tasks: bool, visit: &mut dyn FnMut(StatePart)) {
        // The usual record, without a copy of what else it has.
        if let ([_], [task]) = (self.specs.as_slice(), self.tasks.as_slice())
            && let (true, Some(TaskOutcome::Finished(done))) = (with_tasks, &task.outcome)
            && self.checkpoint.snapshot.is_none()
            && self.entries.is_empty()
            && task.task == 0
        {
            return visit(StatePart::Task(done.clone()));
        }
        StatePart::visit_each(&self.to_stored(), with_tasks, visit);
    }
}
