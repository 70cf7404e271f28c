//! The parts of a checkpoint's state, without its other records.

use std::sync::Arc;

use super::task_fold::fold_tasks;
use super::{Chain, Head, Owner, Payload, Stored};

/// A part of a state: the last snapshot, and then the writes, in order.
#[derive(Clone, Debug)]
pub enum Past {
    /// A snapshot, which replaces everything before it.
    Snapshot(Payload),
    /// An update from outside.
    Entry(Payload),
    /// The writes of a superstep's only task.
    Task(Payload),
    /// The writes of a superstep's tasks, in order.
    Tasks(Vec<Payload>),
}

/// The position of a thread: [`load_state`](super::Checkpointer::load_state) returns it after it
/// has passed on the past.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Standing {
    /// The head of the log.
    pub head: Head,
    /// What the log belongs to; `None` if no batch has said so.
    pub owner: Option<Arc<Owner>>,
    /// The requested checkpoint; `None` if it does not exist.
    pub checkpoint: Option<Stored>,
}

impl Standing {
    /// Creates it from what a saver has read.
    pub fn new(head: Head, owner: Option<Arc<Owner>>, checkpoint: Option<Stored>) -> Self {
        Self {
            head,
            owner,
            checkpoint,
        }
    }
}

impl Past {
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
    pub fn of(stored: &Stored, with_tasks: bool, see: &mut dyn FnMut(Self)) {
        let snapshot = stored.checkpoint.snapshot.iter();
        let entries = stored.entries.iter();
        snapshot.cloned().map(Self::Snapshot).for_each(&mut *see);
        entries.for_each(|entry| see(Self::Entry(entry.writes.clone())));
        if with_tasks {
            let tasks = fold_tasks(stored).into_iter();
            let mut written: Vec<_> = tasks.filter_map(|task| task.written().cloned()).collect();
            if written.len() > 1 {
                see(Self::Tasks(written));
            } else {
                written.pop().map(Self::Task).into_iter().for_each(see);
            }
        }
    }
}

impl Chain {
    /// Passes on the chain as [`load_state`](super::Checkpointer::load_state) does.
    pub fn hand_over(mut self, see: &mut dyn FnMut(Past)) -> Standing {
        let bases = self.records.iter().skip(1);
        let bases = bases.map(|next| next.checkpoint.base.is_some_and(|base| base.with_tasks));
        for (stored, with_tasks) in self.records.iter().zip(bases) {
            Past::of(stored, with_tasks, see);
        }
        Standing::new(self.head, self.owner, self.records.pop())
    }
}
