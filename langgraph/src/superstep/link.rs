//! What is stored and read of a chain: its tasks' updates, between two supersteps.

use std::sync::Arc;

use super::observer::Observer;
use crate::graph::NodeName;
use crate::graph::inbox::Inbox;
use crate::log::Putting;
use crate::node::{Context, NodeId, Scope};
use crate::state::State;
use crate::stream::{Emitter, EventTask, Sending, StreamMode};
use crate::task::{Finished, Pending, Position, emit_update};

/// The superstep of a task, and its node.
type Named = (i64, NodeName);

impl<S: State> Observer<S> {
    /// Returns true if the run may stop between two supersteps of a chain, or takes an input there.
    pub(super) fn stops(&self, scope: &Scope, inbox: Option<&Inbox<S>>) -> bool {
        self.recorder.is_some() && (self.drains(scope) || Inbox::waits(inbox))
    }

    /// Notes the messages of an update before it is merged, and returns a copy if it is stored or read.
    #[inline]
    pub(super) fn keep_update(
        &mut self,
        emitter: Option<&Emitter>,
        update: &S::Update,
    ) -> Option<S::Update> {
        let wants = |mode| emitter.is_some_and(|emitter| emitter.wants(mode));
        if wants(StreamMode::Messages) {
            S::messages(update, &mut |message| self.messages.push(message.clone()));
        }
        let keeps = self.recorder.is_some() || wants(StreamMode::Updates);
        keeps.then(|| update.clone())
    }

    /// Emits the success of a task, and takes its update unless that is stored too.
    #[inline]
    pub(super) fn emit_link<'a>(
        &mut self,
        emitter: &'a Emitter,
        (step, node): Named,
        kept: &mut Option<S::Update>,
        cached: bool,
    ) -> Sending<'a> {
        let update = match &self.recorder {
            Some(_) if emitter.wants(StreamMode::Updates) => kept.clone(),
            Some(_) => None,
            None => kept.take(),
        };
        let to = (emitter, step, self.shown.get(0));
        emit_update::<S>(to, node, (update, cached), &mut self.messages)
    }

    /// Stores a superstep of a chain, with the result of its task.
    #[inline]
    pub(super) fn store_link(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
        node: NodeId,
        done: Finished<S>,
    ) -> Putting<'_> {
        match &mut self.recorder {
            None => Putting::stored(Ok(())),
            Some(recorder) => recorder.record_after(position, pending, node, done),
        }
    }

    /// Gives the context of the next task of a chain its place in the log.
    #[inline]
    pub(super) fn place_next(&self, cx: &mut Context) {
        if let Some(recorder) = &self.recorder {
            recorder.place_next(cx);
        }
    }

    /// Begins the next task of a chain, and returns it as its events show it.
    #[inline]
    pub(super) fn next_begins(
        &mut self,
        emitter: &Emitter,
        scope: &Scope,
        (step, node): Named,
    ) -> Arc<EventTask> {
        if scope.path.is_root() {
            scope.shared.begin_superstep();
        }
        let superstep = emitter.superstep(self.current(), step);
        self.shown.next(node, superstep, emitter.parent.as_ref())
    }
}
