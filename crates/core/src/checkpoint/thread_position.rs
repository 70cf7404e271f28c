//! The position of a thread: its head, its owner, and one checkpoint.

use std::sync::Arc;

use super::{Chain, Owner, StatePart, Stored};
use crate::head::Head;

/// The position of a thread: [`load_state`](super::Checkpointer::load_state) returns it after it
/// has passed on the parts of its state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadPosition {
    /// The head of the log.
    pub head: Head,
    /// What the log belongs to; `None` if no batch has said so.
    pub owner: Option<Arc<Owner>>,
    /// The requested checkpoint; `None` if it does not exist.
    pub checkpoint: Option<Stored>,
}

impl ThreadPosition {
    /// Creates it from what a saver has read.
    pub fn new(head: Head, owner: Option<Arc<Owner>>, checkpoint: Option<Stored>) -> Self {
        Self {
            head,
            owner,
            checkpoint,
        }
    }
}

impl Chain {
    /// Passes on the chain as [`load_state`](super::Checkpointer::load_state) does.
    pub fn visit_parts(mut self, visit: &mut dyn FnMut(StatePart)) -> ThreadPosition {
        let bases = self.records.iter().skip(1);
        let bases = bases.map(|next| next.checkpoint.base.is_some_and(|base| base.with_tasks));
        for (stored, with_tasks) in self.records.iter().zip(bases) {
            StatePart::visit_each(stored, with_tasks, visit);
        }
        ThreadPosition::new(self.head, self.owner, self.records.pop())
    }
}
