//! Links: the usual checkpoints, of which savers in memory keep only what is new.

use super::checkpoint::followed_records;
use super::origin::Origin;
use super::recorder::Recorder;
use crate::checkpoint::{Link, PayloadValue, PutLink, Source};
use crate::environment;
use crate::log::Putting;
use crate::node::NodeId;
use crate::state::State;
use crate::task::{Finished, Pending, Position};

impl<S: State> Recorder<S> {
    /// Stores the position behind a superstep of a chain, whose only task has `done` that: as a link, if that is
    /// possible.
    #[inline]
    pub(crate) fn record_after(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
        node: NodeId,
        done: Finished<S>,
    ) -> Putting<'_> {
        if let [task] = pending.tasks
            && self.held.is_clear()
            && self.allows_link(position, pending)
        {
            let done = self.stored_form(node, done);
            let stored = self.put_link(position, task.node, done);
            return stored.unwrap_or_else(|| self.record_superstep(position, pending));
        }
        let joins = position.joins_left_in(node);
        match self.keep_finished(0, node, done, joins) {
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
        self.put_link(position, task.node, done)
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
        done: PayloadValue,
    ) -> Option<Putting<'static>> {
        let now = environment::now();
        let link = Link {
            id: self.next_checkpoint(now),
            created_at: now,
            done,
            next: position.plan.name(next),
            followed: followed_records(&position.scope).into(),
        };
        match self.log_head.put_link(link) {
            PutLink::Stored => {
                self.parent = self.current;
                self.source = Source::Loop;
                self.policy.records += 1;
                self.current = self.newest;
                self.linked = self.newest;
                self.stored_name.clear();
                Some(Putting::Ended(None))
            }
            PutLink::Failed(error) => Some(Putting::stored(Err(error))),
            PutLink::NotTaken(link) => {
                // The whole checkpoint gets the id.
                self.next = Some(link.id);
                self.linked = None;
                self.held
                    .result(self.current?, 0, link.done.into(), Vec::new());
                None
            }
        }
    }
}
