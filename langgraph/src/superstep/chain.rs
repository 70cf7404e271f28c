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
    Changes, Finished, PlainDone, Routing, Writer, call_routers, classify, merge, run_node,
};

impl<S: State> Engine<S> {
    /// Runs the only task, and the tasks that follow it as long as each only updates the state and has one
    /// successor. The first result becomes that of the last one, whose update may be merged: each output is used where
    /// its node leaves it.
    ///
    /// `WATCHED` is true if they are stored or read: other chains are compiled without what that takes. Between two
    /// merges, `hold` is what it has of the state, and `make_mut` what a merge writes into.
    pub(super) async fn run_chain<const WATCHED: bool, H: Borrow<S> + Send + Sync>(
        &mut self,
        hold: impl Fn(&mut Arc<S>) -> &mut H + Send,
        make_mut: impl Fn(&mut H) -> &mut S + Send,
    ) -> Result<(), Stop> {
        let (plan, scope) = (&*self.position.plan, &*self.position.scope);
        let cx = self.contexts.first_mut().ok_or_else(Stop::lost)?;
        let result = self.results.first_mut().ok_or_else(Stop::lost)?;
        let mut state = hold(&mut self.position.state);
        loop {
            let id = self.frontier.tasks.first().ok_or_else(Stop::lost)?.node;
            let node = plan.node(id).ok_or_else(Stop::lost)?;
            let seen: &S = (*state).borrow();
            let call = || Call::of_snapshot(seen, &self.position.written, cx);
            let output = result.output_mut().ok_or_else(Stop::lost)?;
            let ran = run_node(node, call, output).await;
            let Some(update) = only_update(seen, cx, &ran, output) else {
                *result = classify(plan, id, seen, cx, ran.map(|()| output.take()));
                return Ok(());
            };
            let merged = make_mut(state);
            let noted = WATCHED.then_some((&mut self.position.written, &mut self.observer));
            let mut kept = merge_update(plan, scope, id, merged, &mut self.changes, update, noted)?;
            let routing = call_routers(plan, (id, &node.out.routers), merged, cx);
            let Routing::Arm(picked) = routing else {
                let routed = routing.answers().await;
                *result = Finished::from(PlainDone::new(kept, None, cx)).routed(routed);
                return Ok(());
            };
            drop(routing); // here, so that the future keeps no place for it
            let stops = WATCHED && self.observer.stops(scope, self.inbox.as_deref());
            let may_go_on = !stops && self.budget.goes_on();
            let goes_on = |next| may_go_on && !self.breakpoints.is_between(id, next);
            let Some(next) = self.frontier.follow_only((id, node), picked, goes_on) else {
                *result = Finished::from(PlainDone::new(kept, picked, cx)).into();
                return Ok(());
            };
            if WATCHED {
                let (observer, position) = (&mut self.observer, &self.position);
                observer.emit_link(position, id, &mut kept, cx);
                if let Some(recorder) = &mut observer.recorder {
                    let (pending, done) =
                        (self.frontier.pending(), PlainDone::new(kept, picked, cx));
                    recorder.record_after(position, pending, id, done).await?;
                    observer.emit_checkpoint(position, pending);
                }
                state = hold(&mut self.position.state);
            }
            check_cancelled(scope)?;
            self.budget.begin_superstep(scope);
            self.position.step += 1;
            cx.advance(next);
            if WATCHED {
                let (position, tasks) = (&self.position, &self.frontier.tasks);
                if let Some(room) = self.observer.link_begins(position, tasks, cx) {
                    room.await;
                }
                state = hold(&mut self.position.state);
            }
        }
    }
}

/// Merges the update of an only task, from where its node has left it. If its fields are noted, for an observer,
/// returns what that keeps of it, and whether it has written a field.
#[allow(clippy::inline_always)] // it is part of each superstep
#[inline(always)]
fn merge_update<S: State>(
    plan: &Plan<S>,
    scope: &Scope,
    node: NodeId,
    state: &mut S,
    changes: &mut Option<Changes<S>>,
    writes: &mut Writes<S>,
    mut noted: Option<(&mut WrittenFields, &mut Observer<S>)>,
) -> Result<(Option<S::Update>, bool), InvalidUpdate> {
    let written = noted.as_mut().map(|(written, _)| &mut **written);
    clear_ephemeral(plan, state, written, changes.as_mut());
    let mut kept = (None, true);
    if let Writes::One(Write::Update(update)) = &*writes {
        if let Some(changes) = changes {
            changes.note(update);
        }
        if let Some((written, observer)) = noted {
            let fields = state.written(update);
            written.add(&fields);
            kept = (
                observer.keep_update(scope, state, update),
                !fields.is_empty(),
            );
        }
    }
    if let Writes::One(Write::Update(update)) = std::mem::take(writes) {
        merge(plan, Writer::Node(node), state, update)?;
    }
    Ok(kept)
}

/// Returns the update of a task that only updates the state, ready to be merged, where the node has left it.
#[allow(clippy::inline_always)] // it is part of each superstep
#[inline(always)]
fn only_update<'o, S: State>(
    state: &S,
    cx: &Context,
    ran: &Result<(), Box<NodeError>>,
    output: &'o mut Output<S>,
) -> Option<&'o mut Writes<S>> {
    // Before the answer is looked at: nothing in between can change it, so each part is looked at once.
    let interrupts = cx.has_open_interrupt();
    let Output {
        writes,
        jump: Jump::Edges,
    } = output
    else {
        return None;
    };
    let Writes::One(Write::Update(update)) = writes else {
        return None;
    };
    // What panics here does so again where the answer is looked at more closely.
    let is_ready = ran.is_ok() && !interrupts && caught(|| state.prepare(update)).is_ok();
    is_ready.then_some(writes)
}
