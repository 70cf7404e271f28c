//! Chains: plain tasks that follow one another, and whose events do not show the state.

use std::sync::Arc;

use super::budget::check_cancelled;
use super::commit::{Merged, clear_ephemeral};
use super::end::Stop;
use super::engine::Engine;
use crate::error::{AgentError, InvalidUpdate, NodeError, Panicked};
use crate::graph::plan::Plan;
use crate::graph::routes::Routed;
use crate::log::Putting;
use crate::node::{Context, Jump, NodeId, Output, caught};
use crate::state::{State, Write, Writes, WrittenFields};
use crate::task::{
    Changes, Finished, Pending, Routing, TaskResult, Writer, call_routers, classify, merge,
    run_node,
};

impl<S: State> Engine<S> {
    /// Runs the only task, and the tasks that follow it as long as each only updates the state and has one
    /// successor. The result is that of the last one, whose writes may be merged. `WATCHED` is true if they
    /// are stored or read: other chains are compiled without what that takes.
    pub(super) async fn run_chain<const WATCHED: bool>(&mut self) -> Result<(), Stop> {
        let ([task], [cx]) = (&mut *self.frontier.tasks, &mut *self.contexts) else {
            return Err(AgentError::from(Panicked::lost()).into());
        };
        let (plan, scope) = (&*self.position.plan, &*self.position.scope);
        let emitter = scope.emitter.as_deref().filter(|_| WATCHED);
        // Nothing else holds the state: checked once, and not for every merge.
        let mut state = Arc::make_mut(&mut self.position.state);
        let (answers, done) = loop {
            let id = task.node;
            let Some(node) = plan.node(id) else {
                return Err(AgentError::from(Panicked::lost()).into());
            };
            let answer = {
                let call = || task.call(state, &self.position.written, cx);
                run_node(node, call).await
            };
            let update = match only_update(plan, id, state, cx, answer) {
                Ok(update) => update,
                Err(ended) => {
                    self.observer.note_messages(&self.position, &ended);
                    self.results.push(ended);
                    return Ok(());
                }
            };
            let keep = |written: &mut WrittenFields, state: &S, update: &S::Update| {
                if !WATCHED {
                    return None;
                }
                written.add(&state.written(update));
                self.observer.keep_update(emitter, update)
            };
            let noted = (&mut self.position.written, keep);
            let mut kept = merge_update(plan, id, state, update, self.changes.as_mut(), noted)?;
            let picked = match &*node.out.routers {
                [] => None,
                _ => match call_routers(plan, id, state, cx) {
                    Routing::Arm(arm) => Some(arm),
                    Routing::Later(answers) => {
                        break (answers.await, Finished::merged(kept, None, cx));
                    }
                },
            };
            let goes_on = |next: NodeId| {
                self.budget.goes_on()
                    && !self.breakpoints.is_between(id, next)
                    && !(WATCHED && self.observer.stops(scope, self.inbox.as_deref()))
            };
            let followed = &mut self.frontier.followed;
            let Some(next) = followed.only_next(plan, (id, node), picked, goes_on) else {
                let done = Finished::merged(kept, picked, cx);
                self.results.push(done.into());
                return Ok(());
            };
            task.node = next;
            if let Some(emitter) = emitter {
                let named = (self.position.step, plan.name(id));
                let cached = cx.is_from_cache();
                let link = self.observer.emit_link(emitter, named, &mut kept, cached);
                if !link.is_sent() {
                    link.await;
                }
            }
            if WATCHED && self.observer.recorder.is_some() {
                let pending = Pending {
                    tasks: std::slice::from_ref(task),
                    deferred: &self.frontier.deferred,
                    joins: &self.frontier.joins,
                    followed: &self.frontier.followed.times,
                };
                let done = Finished::merged(kept, picked, cx);
                match self.observer.store_link(&self.position, pending, id, done) {
                    Putting::Ended(None) => {}
                    link => link.await?,
                }
                self.observer.place_next(cx);
                state = Arc::make_mut(&mut self.position.state);
            }
            check_cancelled(scope)?;
            self.budget.begin_superstep(scope);
            self.position.step += 1;
            cx.advance(next);
            if let Some(emitter) = emitter {
                let named = (self.position.step, plan.name(next));
                cx.set_task(self.observer.next_begins(emitter, scope, named));
            }
        };
        self.results.push(done.into());
        Box::pin(self.end_chain(answers)).await
    }

    /// Ends a chain after a task whose writes are merged, with the answers of its routers.
    async fn end_chain(&mut self, routed: Result<Routed<S>, TaskResult<S>>) -> Result<(), Stop> {
        match self.routed(0, routed) {
            Ok(()) => Ok(()),
            Err(ended) => Err(self.not_routed(0, ended, Merged::WRITES).await),
        }
    }
}

/// Merges the update of an only task; returns what `keep` has kept of it.
#[allow(clippy::inline_always)] // it is part of each superstep
#[inline(always)]
fn merge_update<S: State, K>(
    plan: &Plan<S>,
    node: NodeId,
    state: &mut S,
    update: S::Update,
    mut changes: Option<&mut Changes<S>>,
    (written, keep): (
        &mut WrittenFields,
        impl FnOnce(&mut WrittenFields, &S, &S::Update) -> K,
    ),
) -> Result<K, InvalidUpdate> {
    clear_ephemeral(plan, state, Some(&mut *written), changes.as_deref_mut());
    if let Some(changes) = changes {
        changes.note(&update);
    }
    let kept = keep(written, state, &update);
    merge(plan, Writer::Node(node), state, update)?;
    Ok(kept)
}

/// Returns the update of a task that only updates the state, ready to be merged; or the result of
/// another task.
#[allow(clippy::inline_always)] // it is part of each superstep
#[inline(always)]
#[allow(clippy::result_large_err)] // moved once, where a task ends
fn only_update<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    state: &S,
    cx: &Context,
    answer: Result<Output<S>, NodeError>,
) -> Result<S::Update, TaskResult<S>> {
    let mut update = match answer {
        Ok(Output {
            writes: Writes::One(Write::Update(update)),
            jump: jump @ Jump::Edges,
        }) if !cx.has_open_interrupt() => {
            // It holds nothing, which its destructor would have to find out.
            std::mem::forget(jump);
            update
        }
        answer => return Err(classify(plan, node, state, cx, answer)),
    };
    match caught(|| state.prepare(&mut update)) {
        Ok(()) => Ok(update),
        Err(panicked) => Err(NodeError::from(panicked).into()),
    }
}
