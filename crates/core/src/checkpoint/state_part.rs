//! The parts of a checkpoint's state, without its other records.

use super::task_fold::fold_tasks;
use super::{Payload, Stored};

/// A part of a state: the last snapshot, and then the writes, in order.
#[derive(Clone, Debug)]
pub enum StatePart {
    /// A snapshot, which replaces everything before it.
    Snapshot(Payload),
    /// An update from outside.
    Entry(Payload),
    /// The writes of a superstep's only task.
    Task(Payload),
    /// The writes of a superstep's tasks, in order.
    Tasks(Vec<Payload>),
}

impl StatePart {
    /// Returns the size in bytes; `None` for values in memory.
    pub fn size(&self) -> usize {
        let size = |payload: &Payload| payload.size().unwrap_or(0);
        match self {
            Self::Snapshot(payload) | Self::Entry(payload) | Self::Task(payload) => size(payload),
            Self::Tasks(payloads) => payloads.iter().map(size).sum(),
        }
    }

    /// Passes on the writes of a checkpoint to states based on it, including the writes of its
    /// tasks if the next checkpoint is based on those.
    pub fn visit_each(stored: &Stored, with_tasks: bool, visit: &mut dyn FnMut(Self)) {
        let snapshot = stored.checkpoint.snapshot.iter();
        let entries = stored.entries.iter();
        snapshot.cloned().map(Self::Snapshot).for_each(&mut *visit);
        entries.for_each(|entry| visit(Self::Entry(entry.writes.clone())));
        if with_tasks {
            let tasks = fold_tasks(stored);
            let order = stored.merge_order();
            let in_order = order.filter_map(|task| tasks.get(task)?.written().cloned());
            let mut written: Vec<_> = in_order.collect();
            if written.len() > 1 {
                visit(Self::Tasks(written));
            } else {
                written.pop().map(Self::Task).into_iter().for_each(visit);
            }
        }
    }
}
