//! Links: the usual checkpoints, of which savers in memory keep only what is new.

use std::sync::Arc;

use super::checkpoint::followed_records;
use super::origin::Origin;
use super::recorder::Recorder;
use super::run_links::{LinkDone, RunLink, RunLinks, SharedLinks};
use crate::checkpoint::Source;
use crate::environment;
use crate::error::CheckpointError;
use crate::log::Putting;
use crate::node::NodeId;
use crate::state::State;
use crate::task::{Pending, PlainDone, Position};

impl<S: State> Recorder<S> {
    /// Stores the position behind a superstep of a chain, whose only task has `done` that: as a link, if that is
    /// possible.
    #[inline]
    pub(crate) fn record_after(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
        node: NodeId,
        mut done: PlainDone<S>,
    ) -> Putting<'_> {
        if let [task] = pending.tasks
            && self.held.is_clear()
            && self.allows_link(position, pending)
        {
            self.coder.forget_untracked_of(done.update.as_mut());
            let done = LinkDone::Plain(node, done);
            let stored = self.put_link(position, task.node, done);
            return stored.unwrap_or_else(|| self.record_superstep(position, pending));
        }
        let joins = position.joins_left_in(node);
        match self.keep_finished(0, node, done.into(), joins) {
            Ok(()) => self.record_superstep(position, pending),
            Err(error) => Putting::stored(Err(error)),
        }
    }

    /// Stores the position behind a superstep, with the held results of its tasks: as a link, if that is possible.
    #[inline]
    pub(crate) fn record_superstep(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
    ) -> Putting<'_> {
        let link = self.record_link(position, pending);
        link.unwrap_or_else(|| {
            let origin = Origin::of_superstep(self.current);
            self.record(position, pending, origin, None)
        })
    }

    /// Stores the position as a link, with the held result of the only task before it; `None` if that is not
    /// possible.
    #[inline]
    fn record_link(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
    ) -> Option<Putting<'static>> {
        let [task] = pending.tasks else {
            return None;
        };
        let may_link = task.argument.is_none() && self.allows_link(position, pending);
        let done = may_link.then(|| self.held.take_only_result()).flatten()?;
        self.put_link(position, task.node, LinkDone::Held(done))
    }

    /// Returns true if a link may follow the current checkpoint: to a task without an argument, and no subgraph
    /// has left a join.
    #[inline]
    fn allows_link(&self, position: &Position<S>, pending: Pending<'_, S>) -> bool {
        self.linked.is_some()
            && !self.pauses
            && !self.at_rest
            && pending.deferred.is_empty()
            && self.policy.allows_link(position.step)
            && !position.has_unfilled_joins(pending.joins)
    }

    /// Stores a link; if that is not possible, holds the result for the whole checkpoint, and returns `None`.
    #[inline]
    fn put_link(
        &mut self,
        position: &Position<S>,
        next: NodeId,
        done: LinkDone<S>,
    ) -> Option<Putting<'static>> {
        let now = environment::now();
        let link = RunLink {
            id: self.next_checkpoint(now),
            created_at: now,
            done,
            next,
            followed: match &position.scope.bounds {
                None => Box::default(),
                Some(_) => followed_records(&position.scope).into(),
            },
        };
        let left = match &self.links {
            SharedLinks::Some(links) => links.push(link),
            SharedLinks::None | SharedLinks::Refused => Some(link),
        };
        if let Some(link) = left {
            match self.share_links(link) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Putting::stored(Err(error))),
            }
        }
        self.parent = self.current;
        self.source = Source::Loop;
        self.policy.records += 1;
        self.current = self.newest;
        self.linked = self.newest;
        self.stored_name.clear();
        Some(Putting::Ended(None))
    }

    /// Shares links with the saver, of which this is the first; if it takes none, holds the result of the task before
    /// it for the whole checkpoint, and returns false.
    #[cold]
    fn share_links(&mut self, first: RunLink<S>) -> Result<bool, CheckpointError> {
        let links = Arc::new(RunLinks::new(&self.coder, first));
        if self.log_head.share_links(&links)? {
            self.links = SharedLinks::Some(links);
            return Ok(true);
        }
        self.links = SharedLinks::Refused;
        self.linked = None;
        let refused = Arc::into_inner(links).and_then(RunLinks::into_newest);
        if let (Some(link), Some(current)) = (refused, self.current) {
            // The whole checkpoint gets the id.
            self.next = Some(link.id);
            let done = match link.done {
                LinkDone::Plain(node, done) => self.coder.done(node, done.into()),
                LinkDone::Held(done) => done,
            };
            self.held.result(current, 0, done.into(), Vec::new());
        }
        Ok(false)
    }
}
