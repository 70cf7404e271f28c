//! What the state of a checkpoint is made of, without the rest of what is stored.

use super::task_fold::fold_tasks;
use super::{Chain, Head, Payload, Stored};

/// A part of what a state is made of: the last snapshot, and then what was written, in order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Past {
    /// The state of a checkpoint: what came before is not needed.
    Snapshot(Payload),
    /// What was written from outside.
    Entry(Payload),
    /// What the only task of a superstep wrote.
    Task(Payload),
    /// What the tasks of a superstep wrote, in their order.
    Tasks(Vec<Payload>),
}

/// Where a thread stands: what [`load_state`](super::Checkpointer::load_state) says when the past
/// has been handed over.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Standing {
    /// The end of the log.
    pub head: Head,
    /// The checkpoint that was asked for; none when there is no such checkpoint.
    pub checkpoint: Option<Stored>,
}

impl Standing {
    /// What a saver has read.
    pub fn new(head: Head, checkpoint: Option<Stored>) -> Self {
        Self { head, checkpoint }
    }
}

impl Past {
    /// How many bytes it holds; none for values in memory.
    pub fn size(&self) -> usize {
        let size = |payload: &Payload| payload.size().unwrap_or(0);
        match self {
            Self::Snapshot(payload) | Self::Entry(payload) | Self::Task(payload) => size(payload),
            Self::Tasks(payloads) => payloads.iter().map(size).sum(),
        }
    }

    /// Hands over what a checkpoint has left in the states that are based on it, with what its
    /// tasks wrote if the next one is based on that.
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
    /// The chain as [`load_state`](super::Checkpointer::load_state) hands it over.
    pub fn hand_over(mut self, see: &mut dyn FnMut(Past)) -> Standing {
        let bases = self.records.iter().skip(1);
        let bases = bases.map(|next| next.checkpoint.base.is_some_and(|base| base.with_tasks));
        for (stored, with_tasks) in self.records.iter().zip(bases) {
            Past::of(stored, with_tasks, see);
        }
        Standing::new(self.head, self.records.pop())
    }
}
