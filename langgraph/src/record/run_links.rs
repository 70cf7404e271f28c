//! The links that a run adds to its log.

use std::sync::Arc;
use std::time::SystemTime;

use langgraph_core::Lock;

use super::coder::{Coder, TaskDone};
use crate::checkpoint::{
    CheckpointId, Encoded, FollowedRecord, Formats, GrowingLinks, Link, Links, PayloadValue,
    StoredValue,
};
use crate::error::FormatError;
use crate::node::NodeId;
use crate::state::State;
use crate::task::PlainDone;

/// The most links that are kept next to each other: a longer list is never moved as a whole.
const CHUNK: usize = 64;

/// A link, as the run has it.
pub(super) struct RunLink<S: State> {
    pub(super) id: CheckpointId,
    pub(super) created_at: SystemTime,
    pub(super) done: LinkDone<S>,
    pub(super) next: NodeId,
    pub(super) followed: Box<[FollowedRecord]>,
}

/// What the only task of the checkpoint before a link wrote.
pub(super) enum LinkDone<S: State> {
    /// This node.
    Plain(NodeId, PlainDone<S>),
    /// As it was held until now.
    Held(PayloadValue),
}

/// The links that a run shares with its saver.
pub(super) enum SharedLinks<S: State> {
    /// None yet.
    None,
    Some(Arc<RunLinks<S>>),
    /// The saver takes none.
    Refused,
}

/// Links that the run and its saver share: the run adds some until the saver closes them.
pub(super) struct RunLinks<S: State> {
    links: Lock<Growth<S>>,
}

enum Growth<S: State> {
    Open(LinkList<S>),
    Closed(Arc<LinkList<S>>),
}

impl<S: State> RunLinks<S> {
    pub(super) fn new(coder: &Arc<Coder<S>>, first: RunLink<S>) -> Self {
        let list = LinkList {
            coder: Arc::clone(coder),
            full: Vec::new(),
            newest: vec![first],
        };
        Self {
            links: Lock::new(Growth::Open(list)),
        }
    }

    /// Adds a link; returns it if the links are closed.
    #[inline]
    pub(super) fn push(&self, link: RunLink<S>) -> Option<RunLink<S>> {
        match &mut *self.links.lock() {
            Growth::Open(links) => {
                links.push(link);
                None
            }
            Growth::Closed(_) => Some(link),
        }
    }

    /// Takes the links, which were not shared.
    pub(super) fn into_newest(self) -> Option<RunLink<S>> {
        match self.links.into_inner() {
            Growth::Open(mut links) => links.newest.pop(),
            Growth::Closed(_) => None,
        }
    }
}

impl<S: State> GrowingLinks for RunLinks<S> {
    fn newest(&self) -> Option<(usize, CheckpointId, SystemTime)> {
        let links = self.links.lock();
        let list = match &*links {
            Growth::Open(list) => list,
            Growth::Closed(list) => list,
        };
        let count = list.count();
        let newest = list.get(count.checked_sub(1)?)?;
        Some((count, newest.id, newest.created_at))
    }

    fn close(&self) -> Arc<dyn Links> {
        let mut links = self.links.lock();
        let closed = match &mut *links {
            Growth::Open(list) => Arc::new(list.take()),
            Growth::Closed(list) => Arc::clone(list),
        };
        *links = Growth::Closed(Arc::clone(&closed));
        closed
    }
}

/// Links, and what encodes the results of their tasks.
pub(super) struct LinkList<S: State> {
    coder: Arc<Coder<S>>,
    /// Each is [`CHUNK`] long.
    full: Vec<Vec<RunLink<S>>>,
    newest: Vec<RunLink<S>>,
}

impl<S: State> LinkList<S> {
    #[inline]
    fn push(&mut self, link: RunLink<S>) {
        if self.newest.len() == self.newest.capacity() {
            self.grow();
        }
        self.newest.push(link);
    }

    #[cold]
    fn grow(&mut self) {
        let len = self.newest.len();
        if len < CHUNK {
            return self.newest.reserve_exact(len.min(CHUNK - len).max(4));
        }
        let next = Vec::with_capacity(CHUNK);
        self.full.push(std::mem::replace(&mut self.newest, next));
    }

    fn take(&mut self) -> Self {
        Self {
            coder: Arc::clone(&self.coder),
            full: std::mem::take(&mut self.full),
            newest: std::mem::take(&mut self.newest),
        }
    }

    fn get(&self, index: usize) -> Option<&RunLink<S>> {
        let chunk = self.full.get(index / CHUNK).unwrap_or(&self.newest);
        chunk.get(index % CHUNK)
    }

    /// Returns the result of a task that only this list has, and its encoder.
    pub(super) fn task_done(&self, index: usize) -> Option<(TaskDone<S>, &Arc<Coder<S>>)> {
        match &self.get(index)?.done {
            LinkDone::Plain(node, done) => Some((
                self.coder.task_done(*node, done.clone().into()),
                &self.coder,
            )),
            LinkDone::Held(_) => None,
        }
    }
}

impl<S: State> Links for LinkList<S> {
    fn count(&self) -> usize {
        self.full.len() * CHUNK + self.newest.len()
    }

    fn id(&self, index: usize) -> Option<CheckpointId> {
        Some(self.get(index)?.id)
    }

    fn add_ids(&self, ids: &mut Vec<CheckpointId>) {
        for chunk in self.full.iter().chain([&self.newest]) {
            ids.extend(chunk.iter().map(|link| link.id));
        }
    }

    fn link(&self, index: usize) -> Option<Link> {
        let link = self.get(index)?;
        Some(Link {
            id: link.id,
            created_at: link.created_at,
            next: self.coder.plan.name(link.next),
            followed: link.followed.clone(),
        })
    }

    fn done(self: Arc<Self>, index: usize) -> Option<PayloadValue> {
        match &self.get(index)?.done {
            LinkDone::Plain(..) => Some(PayloadValue::at(self, index)),
            LinkDone::Held(done) => Some(done.clone()),
        }
    }

    fn own_done(&self, index: usize) -> Option<PayloadValue> {
        match &self.get(index)?.done {
            LinkDone::Plain(node, done) => Some(self.coder.done(*node, done.clone().into())),
            LinkDone::Held(done) => Some(done.clone()),
        }
    }
}

impl<S: State> StoredValue for LinkList<S> {
    fn encode(&self, index: usize, formats: &Formats) -> Result<Encoded, FormatError> {
        match self.task_done(index) {
            Some((done, coder)) => coder.encode(&done, formats),
            None => Err(FormatError::new("a value that this list does not have")),
        }
    }

    fn state(&self) -> &'static str {
        std::any::type_name::<S>()
    }
}
