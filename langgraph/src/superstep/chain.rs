//! Chains: plain tasks that follow one another.

use std::borrow::Borrow;
use std::sync::Arc;

use super::budget::check_cancelled;
use super::commit::clear_ephemeral;
use super::end::Stop;
use super::engine::Engine;
use super::observer::Observer;
use crate::error::{InvalidUpdate, NodeError};
use crate::graph::plan::Plan;
use crate::node::{Call, Context, Jump, NodeId, Output, Scope, caught};
use crate::state::{State, Write, Writes, WrittenFields};
use crate::task::{
    Changes, Finished, Routing, TaskResult, Writer, call_routers, classify, merge, run_node,
};

impl<S: State> Engine<S> {
    /// Runs the only task, and the tasks that follow it as long as each only updates the state and has one
    /// successor. Returns the result of the last one, whose update may be merged.
    ///
    /// `WATCHED` is true if they are stored or read: other chains are compiled without what that takes. Between two
    /// merges, `hold` is what it has of the state, and `make_mut` what a merge writes into.
    pub(super) async fn run_chain<const WATCHED: bool, H: Borrow<S> + Send + Sync>(
        &mut self,
        hold: impl Fn(&mut Arc<S>) -> &mut H + Send,
        make_mut: impl Fn(&mut H) -> &mut S + Send,
    ) -> Result<TaskResult<S>, Stop> {
        let (plan, scope) = (&*self.position.plan, &*self.position.scope);
        let cx = self.contexts.first_mut().ok_or_else(Stop::lost)?;
        let mut state = hold(&mut self.position.state);
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
            let merged = make_mut(state);
            let noted = WATCHED.then_some((&mut self.position.written, &mut self.observer));
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
                    && !(WATCHED && self.observer.stops(scope, self.inbox.as_deref()))
            };
            let followed = &mut self.frontier.followed;
            let Some(next) = followed.only_next(plan, (id, node), picked, goes_on) else {
                return Ok(Finished::merged(kept, picked, cx).into());
            };
            task.node = next;
            if WATCHED {
                let (observer, position) = (&mut self.observer, &self.position);
                if let Some(full) = observer.emit_link(position, id, &mut kept, cx) {
                    full.await;
                }
                if let Some(recorder) = &mut observer.recorder {
                    let done = Finished::merged(kept, picked, cx);
                    let stored = recorder.record_after(position, self.frontier.pending(), id, done);
                    stored.await?;
                    let shown = observer.emit_checkpoint(position, self.frontier.pending());
                    shown.await;
                }
                state = hold(&mut self.position.state);
            }
            check_cancelled(scope)?;
            self.budget.begin_superstep(scope);
            self.position.step += 1;
            cx.advance(next);
            if WATCHED {
                let (position, tasks) = (&self.position, &self.frontier.tasks);
                if let Some(full) = self.observer.link_begins(position, tasks, cx) {
                    full.await;
                }
                state = hold(&mut self.position.state);
            }
        }
    }
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
