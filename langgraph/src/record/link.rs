//! Links: the usual checkpoints, of which savers in memory keep only what is new.

use super::origin::Origin;
use super::recorder::Recorder;
use crate::checkpoint::{Link, Payload, Source};
use crate::environment;
use crate::log::Putting;
use crate::node::NodeId;
use crate::state::State;
use crate::task::{Finished, Pending, Position};

impl<S: State> Recorder<S> {
    /// Stores what the only task of the current checkpoint did, and the checkpoint behind it.
    pub(crate) fn record_only_task(
        &mut self,
        position: &Position<S>,
        node: NodeId,
        done: Finished<S>,
        pending: Pending<'_, S>,
    ) -> Putting<'_> {
        let done = self.coder.done(node, done);
        let done = match self.link(position, done, pending) {
            Ok(stored) => return stored,
            Err(done) => done,
        };
        match self.encode_done(node, done) {
            Ok(done) => {
                self.hold_finished(0, done, position.joins_left_in(node));
                let origin = Origin::of_superstep(self.current);
                self.record(position, pending, origin, None)
            }
            Err(error) => Putting::stored(Err(error)),
        }
    }

    /// Stores it as a link; returns what the task wrote if that is not possible.
    fn link(
        &mut self,
        position: &Position<S>,
        done: Payload,
        pending: Pending<'_, S>,
    ) -> Result<Putting<'static>, Payload> {
        let [task] = pending.tasks else {
            return Err(done);
        };
        let says_more = task.argument.is_some()
            || !pending.deferred.is_empty()
            || pending.followed.iter().any(|times| *times > 0)
            || !self.held.tasks.is_empty()
            || !self.held.entries.is_empty()
            || !self.known.is_empty()
            || self.at_rest
            || self.pauses;
        if self.linked.is_none()
            || self.log_head.encodes()
            || says_more
            || !self.policy.allows_link(position.step)
            || !position.unfilled_joins(pending.joins).is_empty()
        {
            return Err(done);
        }
        let now = environment::now();
        let link = Link {
            id: self.next_checkpoint(now),
            created_at: now,
            done,
            next: position.plan.name(task.node),
        };
        match self.log_head.put_link(&link) {
            Some(Putting::Ended(None)) => {
                self.parent = self.current;
                self.source = Source::Loop;
                self.policy.records += 1;
                self.current = self.newest;
                self.linked = self.newest;
                self.stored_name.clear();
                Ok(Putting::Ended(None))
            }
            Some(failed) => Ok(failed),
            None => {
                // The whole checkpoint gets the id.
                self.next = Some(link.id);
                self.linked = None;
                Err(link.done)
            }
        }
    }
}
