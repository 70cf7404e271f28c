//! What the state of a checkpoint is made of, without the rest of what is stored.

use super::{Chain, Head, Payload, Stored, TaskOutcome, TaskRecord};
use crate::graph::START;

/// What a checkpoint has left in the states that are based on it.
///
/// A state is the last snapshot; then, checkpoint by checkpoint, the entries, and what the tasks
/// wrote.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Past {
    /// Its state, where that is stored: what came before is not needed.
    pub snapshot: Option<Payload>,
    /// What was written to it from outside, in order.
    pub entries: Vec<Payload>,
    /// What its tasks wrote, in their order; none when the next checkpoint is based on it without
    /// them.
    pub tasks: Option<Vec<Payload>>,
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
    /// What a checkpoint has left, with what its tasks wrote if the next one is based on that.
    pub fn of(stored: &Stored, with_tasks: bool) -> Self {
        let entries = stored.entries.iter().map(|entry| entry.writes.clone());
        Self {
            snapshot: stored.checkpoint.snapshot.clone(),
            entries: entries.collect(),
            tasks: with_tasks.then(|| written(stored)),
        }
    }
}

impl Chain {
    /// The chain as [`load_state`](super::Checkpointer::load_state) hands it over.
    pub fn hand_over(mut self, see: &mut dyn FnMut(Past)) -> Standing {
        let bases = self.records.iter().skip(1);
        let bases = bases.map(|next| next.checkpoint.base.is_some_and(|base| base.with_tasks));
        for (stored, with_tasks) in self.records.iter().zip(bases) {
            see(Past::of(stored, with_tasks));
        }
        Standing::new(self.head, self.records.pop())
    }
}

/// What has come of a task so far.
#[derive(Default)]
struct Written<'a> {
    finished: Option<&'a Payload>,
    ran: Option<&'a Payload>,
}

/// What the tasks of a checkpoint wrote, in their order.
fn written(stored: &Stored) -> Vec<Payload> {
    let mut tasks: Vec<Written<'_>> = Vec::new();
    for TaskRecord { task, outcome, .. } in &stored.tasks {
        let Some(outcome) = outcome else { continue };
        if tasks.len() <= *task {
            tasks.resize_with(*task + 1, Written::default);
        }
        let Some(written) = tasks.get_mut(*task) else {
            continue;
        };
        match outcome {
            TaskOutcome::Finished(done) => {
                *written = Written {
                    finished: Some(done),
                    ran: None,
                }
            }
            TaskOutcome::Ran(done) => written.ran = Some(done),
            // START's input is there before its routers are asked.
            TaskOutcome::Asked(_) => written.ran = written.finished.take().or(written.ran),
            TaskOutcome::Failed(_) => {
                let spec = stored.checkpoint.tasks.get(*task);
                if spec.is_none_or(|spec| &*spec.node != START) {
                    written.finished = None;
                }
            }
        }
    }
    let written = tasks.into_iter();
    written
        .filter_map(|task| task.finished.or(task.ran).cloned())
        .collect()
}
