//! Links: the usual checkpoints, of which savers in memory keep only what is new.

use super::checkpoint::followed_records;
use super::origin::Origin;
use super::recorder::Recorder;
use crate::checkpoint::{Link, Source};
use crate::environment;
use crate::log::Putting;
use crate::state::State;
use crate::task::{Pending, Position};

impl<S: State> Recorder<S> {
    /// Stores the position as a link, with the held result of the only task before it; `None` if that is not
    /// possible.
    pub(super) fn record_link(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
        origin: Origin,
    ) -> Option<Putting<'static>> {
        let [task] = pending.tasks else {
            return None;
        };
        if self.linked.is_none()
            || origin.source != Source::Loop
            || task.argument.is_some()
            || self.pauses
            || self.at_rest
            || !pending.deferred.is_empty()
            || !self.policy.allows_link(position.step)
            || position.has_unfilled_joins(pending.joins)
        {
            return None;
        }
        let done = self.held.take_only_result()?;
        let now = environment::now();
        let link = Link {
            id: self.next_checkpoint(now),
            created_at: now,
            done,
            next: position.plan.name(task.node),
            followed: followed_records(&position.plan.bounds, pending.followed),
        };
        match self.log_head.put_link(&link) {
            Some(Putting::Ended(None)) => {
                self.parent = self.current;
                self.source = Source::Loop;
                self.policy.records += 1;
                self.current = self.newest;
                self.linked = self.newest;
                self.stored_name.clear();
                Some(Putting::Ended(None))
            }
            Some(failed) => Some(failed),
            None => {
                // The whole checkpoint gets the id.
                self.next = Some(link.id);
                self.linked = None;
                self.held.result(self.current?, 0, link.done, Vec::new());
                None
            }
        }
    }
}
