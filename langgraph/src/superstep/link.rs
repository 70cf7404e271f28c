//! What is stored and read of a chain, between two of its supersteps.

use super::observer::Observer;
use crate::graph::NodeName;
use crate::graph::inbox::Inbox;
use crate::node::{Context, Scope};
use crate::state::State;
use crate::stream::{StreamMode, Unsent};
use crate::task::emit_update;

impl<S: State> Observer<S> {
    /// Returns true if the run may stop between two supersteps of a chain, or takes an input there.
    pub(super) fn stops(&self, scope: &Scope, inbox: Option<&Inbox<S>>) -> bool {
        self.recorder.is_some() && (self.drains(scope) || Inbox::waits(inbox))
    }

    /// Notes the messages of an update before it is merged, and returns a copy if it is stored or read.
    #[inline]
    pub(super) fn keep_update(&mut self, scope: &Scope, update: &S::Update) -> Option<S::Update> {
        let emitter = scope.emitter.as_deref();
        if emitter.is_some_and(|emitter| emitter.wants(StreamMode::Messages)) {
            S::messages(update, &mut |message| self.messages.push(message.clone()));
        }
        self.keeps_output(scope).then(|| update.clone())
    }

    /// Emits the success of a chain's task, and takes its update unless that is stored too. Returns what waits for
    /// room, if there is none.
    #[inline]
    pub(super) fn emit_link<'a>(
        &mut self,
        scope: &'a Scope,
        (step, node): (i64, NodeName),
        kept: &mut Option<S::Update>,
        cx: &Context,
    ) -> Option<Unsent<'a>> {
        let emitter = scope.emitter.as_deref()?;
        let update = match &self.recorder {
            Some(_) if emitter.wants(StreamMode::Updates) => kept.clone(),
            Some(_) => None,
            None => kept.take(),
        };
        let to = (emitter, step, self.shown.get(0));
        let update = (update, cx.is_from_cache());
        emit_update::<S>(to, node, update, &mut self.messages).waits()
    }

    /// Begins the next task of a chain: its place in the log, and what its events show of it.
    #[inline]
    pub(super) fn next_begins(&mut self, scope: &Scope, node: NodeName, cx: &mut Context) {
        if let Some(recorder) = &self.recorder {
            recorder.place_next(cx);
        }
        if let Some(emitter) = scope.emitter.as_deref() {
            if scope.path.is_root() {
                scope.shared.begin_superstep();
            }
            let superstep = emitter.superstep(self.current(), cx.step());
            cx.set_task(self.shown.next(node, superstep, emitter.parent.as_ref()));
        }
    }
}
