//! What is stored and read of a chain, between two of its supersteps.

use super::observer::Observer;
use crate::graph::inbox::Inbox;
use crate::node::{Context, NodeId, Output, Scope};
use crate::state::State;
use crate::stream::StreamMode;
use crate::task::{Position, RoomFuture, Task, note_messages_of_update, push_success};

impl<S: State> Observer<S> {
    /// Returns true if the run may stop between two supersteps of a chain, or takes an input there.
    pub(super) fn stops(&self, scope: &Scope, inbox: Option<&Inbox>) -> bool {
        self.recorder.is_some() && (self.drains(scope) || Inbox::waits(inbox))
    }

    /// Notes the messages of an update before it is merged, and returns a copy if it is stored or read.
    #[inline]
    pub(super) fn keep_update(
        &mut self,
        scope: &Scope,
        state: &S,
        update: &S::Update,
    ) -> Option<S::Update> {
        if let Some(emitter) = scope.emitter.as_deref()
            && emitter.wants(StreamMode::Messages)
        {
            note_messages_of_update(emitter, state, update, &mut self.messages);
        }
        self.keeps_output(scope).then(|| update.clone())
    }

    /// Emits the end of a chain's task, and the state, if the task wrote a field. Takes its update, unless that is
    /// stored too.
    #[inline]
    pub(super) fn emit_link(
        &mut self,
        position: &Position<S>,
        node: NodeId,
        (kept, wrote): &mut (Option<S::Update>, bool),
        cx: &Context,
    ) {
        let emitter = position.scope.emitter.as_deref();
        let (Some(emitter), Some(node)) = (emitter, position.plan.shared_name(node)) else {
            return;
        };
        let update = match &self.recorder {
            Some(_) if emitter.shows_writes() => kept.clone(),
            Some(_) => None,
            None => kept.take(),
        };
        let writes = update.map_or_else(Output::none, Output::update).writes;
        let written = (writes, cx.is_from_cache());
        emitter.send_batch(position.shown_step(), self.shown.get(0), |events| {
            push_success::<S>(events, node, written, &mut self.messages);
            if *wrote && emitter.wants(StreamMode::Values) {
                events.push_of_graph(position.values());
            }
        });
    }

    /// Begins the next task of a chain: its place in the log, and what its events show of it. Returns what waits for
    /// room, if it is lacking.
    #[inline]
    pub(super) fn link_begins<'a>(
        &mut self,
        position: &'a Position<S>,
        tasks: &[Task<S>],
        cx: &mut Context,
    ) -> Option<RoomFuture<'a>> {
        if let Some(recorder) = &self.recorder {
            recorder.place_next(cx);
        }
        let scope = &position.scope;
        let (Some(emitter), Some(task)) = (scope.emitter.as_deref(), tasks.first()) else {
            return None;
        };
        if scope.path.is_root() {
            scope.shared.begin_superstep();
        }
        let superstep = emitter.superstep(self.current(), cx.step());
        let (names, parent) = (&position.plan.names, emitter.parent.as_ref());
        cx.set_task(self.shown.next(names, task.node.index(), superstep, parent));
        position.emit_started(task, self.shown.get(0));
        position.lacks_room()
    }
}
