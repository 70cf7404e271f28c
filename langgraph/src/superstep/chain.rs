//! Chains: plain tasks that follow one another, whose events are not read.

use std::sync::Arc;

use super::budget::check_cancelled;
use super::commit::{Merged, clear_ephemeral};
use super::end::Stop;
use super::engine::Engine;
use crate::error::{AgentError, InvalidUpdate, NodeError, Panicked};
use crate::graph::inbox::Inbox;
use crate::graph::plan::Plan;
use crate::graph::routes::Routed;
use crate::node::{Context, Jump, NodeId, Output, caught};
use crate::state::{State, Write, Writes, WrittenFields};
use crate::task::{
    Changes, Finished, Pending, Routing, TaskResult, Writer, call_routers, classify, merge,
    run_node,
};

impl<S: State> Engine<S> {
    /// Runs the only task, and the tasks that follow it as long as each only updates the state and has one
    /// successor. The result is that of the last one, whose writes may be merged.
    pub(super) async fn run_chain(&mut self) -> Result<(), Stop> {
        let ([task], [cx]) = (&mut *self.frontier.tasks, &mut *self.contexts) else {
            return Err(AgentError::from(Panicked::lost()).into());
        };
        let plan = &*self.position.plan;
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
                    self.results.push(ended);
                    return Ok(());
                }
            };
            let notes = Notes {
                stored: self.observer.recorder.is_some(),
                written: &mut self.position.written,
                changes: self.changes.as_mut(),
            };
            let stored = notes.stored;
            let kept = merge_update(plan, id, state, update, notes)?;
            let picked = match &*node.out.routers {
                [] => None,
                _ => match call_routers(plan, id, state, cx) {
                    Routing::Arm(arm) => Some(arm),
                    Routing::Later(answers) => break (answers.await, Finished::merged(kept, cx)),
                },
            };
            let goes_on = |next: NodeId| {
                self.budget.goes_on()
                    && !self.breakpoints.is_between(id, next)
                    && !(stored
                        && (self.observer.drains(&self.position.scope)
                            || Inbox::waits(self.inbox.as_deref())))
            };
            let followed = &mut self.frontier.followed;
            let Some(next) = followed.only_next(plan, (id, node), picked, goes_on) else {
                self.results
                    .push(Finished::merged(kept, cx).on(picked).into());
                return Ok(());
            };
            task.node = next;
            if stored {
                let link = {
                    let pending = Pending {
                        tasks: std::slice::from_ref(task),
                        deferred: &self.frontier.deferred,
                        joins: &self.frontier.joins,
                        followed: &self.frontier.followed.times,
                    };
                    let done = Finished::merged(kept, cx).on(picked);
                    self.observer.store_link(&self.position, pending, id, done)
                };
                link.await?;
                self.observer.place(std::slice::from_mut(cx));
                state = Arc::make_mut(&mut self.position.state);
            }
            check_cancelled(&self.position.scope)?;
            self.budget.begin_superstep(&self.position.scope);
            self.position.step += 1;
            cx.advance(next);
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

/// Where an update is noted before it is merged.
struct Notes<'a, S: State> {
    /// True if it is stored.
    stored: bool,
    written: &'a mut WrittenFields,
    changes: Option<&'a mut Changes<S>>,
}

/// Merges the update of an only task. Returns a copy if it is stored.
#[inline]
fn merge_update<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    state: &mut S,
    update: S::Update,
    notes: Notes<'_, S>,
) -> Result<Option<S::Update>, InvalidUpdate> {
    let Notes {
        stored,
        written,
        mut changes,
    } = notes;
    clear_ephemeral(plan, state, Some(&mut *written), changes.as_deref_mut());
    if let Some(changes) = changes {
        changes.note(&update);
    }
    let kept = stored.then(|| {
        written.add(&state.written(&update));
        update.clone()
    });
    merge(plan, Writer::Node(node), state, update)?;
    Ok(kept)
}

/// Returns the update of a task that only updates the state, ready to be merged; or the result of
/// another task.
#[inline]
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
