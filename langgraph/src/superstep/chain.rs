//! Chains: plain tasks that follow one another.

use super::budget::{Budget, check_cancelled};
use super::commit::clear_ephemeral;
use super::end::Stop;
use super::engine::Engine;
use super::observer::Observer;
use super::watch::Watch;
use crate::error::{InvalidUpdate, NodeError};
use crate::graph::plan::Plan;
use crate::log::Putting;
use crate::node::{Call, Context, Jump, NodeId, Output, Scope, caught};
use crate::state::{State, Write, Writes, WrittenFields};
use crate::stream::StreamMode;
use crate::task::{
    Changes, Finished, Routing, TaskResult, Writer, call_routers, classify, merge, run_node,
};
use std::borrow::Borrow;

impl<S: State> Engine<S> {
    /// Runs the only task, and the tasks that follow it as long as each only updates the state and has one
    /// successor. Returns the result of the last one, whose update may be merged.
    pub(super) async fn run_chain<W: Watch>(&mut self) -> Result<TaskResult<S>, Stop> {
        let (plan, scope) = (&*self.position.plan, &*self.position.scope);
        let cx = self.contexts.first_mut().ok_or_else(Stop::lost)?;
        let mut state = W::hold(&mut self.position.state);
        loop {
            let task = self.frontier.tasks.first_mut().ok_or_else(Stop::lost)?;
            let id = task.node;
            let node = plan.node(id).ok_or_else(Stop::lost)?;
            let seen: &S = (*state).borrow();
            // Plain tasks have no argument.
            let call = || Call::of_snapshot(seen, &self.position.written, cx);
            let answer = run_node(node, call).await;
            let update = match only_update(plan, id, seen, cx, answer) {
                Ok(update) => update,
                Err(ended) => return Ok(ended),
            };
            let merged = W::make_mut(state);
            let noted = W::WATCHED.then_some((&mut self.position.written, &mut self.observer));
            let changes = self.changes.as_mut();
            let mut kept = merge_update(plan, scope, id, merged, update, changes, noted)?;
            // The answer ends here: the future has no place for it.
            let picked = {
                let routing = call_routers(plan, (id, &node.out.routers), merged, cx);
                let Routing::Arm(picked) = routing else {
                    let routed = routing.answers().await;
                    return Ok(Finished::merged(kept, None, cx).routed(routed));
                };
                picked
            };
            let goes_on = |next: NodeId| {
                self.budget.goes_on()
                    && !self.breakpoints.is_between(id, next)
                    && !(W::WATCHED && self.observer.stops(scope, self.inbox.as_deref()))
            };
            let followed = &mut self.frontier.followed;
            let Some(next) = followed.only_next(plan, (id, node), picked, goes_on) else {
                return Ok(Finished::merged(kept, picked, cx).into());
            };
            task.node = next;
            if !W::WATCHED {
                begin_next(scope, &mut self.budget, &mut self.position.step)?;
                cx.advance(next);
                continue;
            }
            let (observer, position) = (&mut self.observer, &self.position);
            if let Some(full) = observer.emit_link(position, id, &mut kept, cx) {
                full.await;
            }
            if let Some(recorder) = &mut observer.recorder {
                let done = Finished::merged(kept, picked, cx);
                match recorder.record_after(position, self.frontier.pending(), id, done) {
                    Putting::Ended(None) => {}
                    link => link.await?,
                }
                if position.emits(StreamMode::Checkpoints) {
                    let pending = self.frontier.pending();
                    observer.emit_checkpoint(position, pending).await;
                }
            }
            begin_next(scope, &mut self.budget, &mut self.position.step)?;
            cx.advance(next);
            if let Some(full) = observer.link_begins(&self.position, &self.frontier.tasks, cx) {
                full.await;
            }
            state = W::hold(&mut self.position.state);
        }
    }
}

/// Begins the next superstep of a chain, unless the run is cancelled.
#[inline]
fn begin_next(scope: &Scope, budget: &mut Budget, step: &mut i64) -> Result<(), Stop> {
    check_cancelled(scope)?;
    budget.begin_superstep(scope);
    *step += 1;
    Ok(())
}

/// Merges the update of an only task. If its fields are noted, for an observer, returns what that keeps of it, and
/// whether it has written a field.
#[allow(clippy::inline_always)] // it is part of each superstep
#[inline(always)]
fn merge_update<S: State>(
    plan: &Plan<S>,
    scope: &Scope,
    node: NodeId,
    state: &mut S,
    update: S::Update,
    mut changes: Option<&mut Changes<S>>,
    mut noted: Option<(&mut WrittenFields, &mut Observer<S>)>,
) -> Result<(Option<S::Update>, bool), InvalidUpdate> {
    let written = noted.as_mut().map(|(written, _)| &mut **written);
    clear_ephemeral(plan, state, written, changes.as_deref_mut());
    if let Some(changes) = changes {
        changes.note(&update);
    }
    let mut kept = (None, true);
    if let Some((written, observer)) = noted {
        let fields = state.written(&update);
        written.add(&fields);
        kept = (
            observer.keep_update(scope, state, &update),
            !fields.is_empty(),
        );
    }
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
    // Before the answer is looked at: nothing in between can change it, so each part is looked at once.
    let interrupts = cx.has_open_interrupt();
    let mut update = match answer {
        Ok(Output {
            writes: Writes::One(Write::Update(update)),
            jump: jump @ Jump::Edges,
        }) if !interrupts => {
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
