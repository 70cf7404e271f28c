//! Chains: plain supersteps of one task each, whose events are not read.

use std::sync::Arc;

use super::budget::check_cancelled;
use super::chained::Chained;
use super::commit::{Merged, clear_ephemeral};
use super::end::Stop;
use super::engine::Engine;
use super::observing::Observing;
use crate::error::{AgentError, NodeError};
use crate::graph::plan::Plan;
use crate::graph::routes::Routed;
use crate::graph::wiring::Successors;
use crate::node::{Context, Jump, NodeId, Output, caught};
use crate::record::Origin;
use crate::state::{State, Write, Writes};
use crate::task::{Finished, Routing, TaskResult, Writer, call_routers, classify, merge, run_node};

impl<S: State> Engine<S> {
    /// Returns true if plain supersteps need not end one by one: they only change the state, and the
    /// log.
    #[inline]
    pub(super) fn is_chain(&self) -> bool {
        let [task] = &*self.frontier.tasks else {
            return false;
        };
        task.is_plain()
            && self.position.scope.emitter.is_none()
            && self.observer.interrupt_ids.given.is_empty()
    }

    /// Runs the only task and, as long as each only merges an update and has one successor, the tasks
    /// that follow it.
    pub(super) async fn run_chain<O: Observing>(&mut self) -> Result<Chained<S>, Stop> {
        loop {
            let ([task], [cx]) = (&mut *self.frontier.tasks, &mut *self.contexts) else {
                return Ok(Chained::Between);
            };
            let plan = &*self.position.plan;
            // Nothing else holds the state: checked once, and not for every merge.
            let state = Arc::make_mut(&mut self.position.state);
            let (next, picked) = loop {
                let Some(node) = plan.node(task.node) else {
                    return Ok(Chained::Merged(Routed::None));
                };
                let answer = {
                    let call = || task.call(state, &self.position.written, cx);
                    run_node(node, call).await
                };
                let update = match only_update(plan, task.node, state, cx, answer) {
                    Ok(update) => update,
                    Err(ended) => return Ok(Chained::Ended(ended)),
                };
                if !plan.fields.ephemeral.is_empty() {
                    clear_ephemeral(plan, state, self.changes.as_mut());
                    self.position.written.remove(&plan.fields.ephemeral);
                }
                if let Some(changes) = &mut self.changes {
                    changes.note(&update);
                }
                if O::OBSERVES {
                    self.position.written.add(&state.written(&update));
                }
                if O::OBSERVES && self.observer.recorder.is_some() {
                    self.unrecorded = Some((copy_of(&update, cx), Vec::new()));
                }
                merge(plan, Writer::Node(task.node), state, update)?;
                let routed = match node.out.successors {
                    Successors::One(only) => Ok((Some(only), None)),
                    _ if node.out.routers.is_empty() => Ok((None, None)),
                    _ => match call_routers(plan, task.node, state, cx) {
                        Routing::Arm(arm) => Ok((node.out.only_node_of(arm), Some(arm))),
                        Routing::Later(answers) => Err(answers.await),
                    },
                };
                let (next, picked) = match routed {
                    Ok(routed) => routed,
                    Err(Ok(routes)) => return self.chain_merged::<O>(routes),
                    Err(Err(ended)) => {
                        return Err(Box::pin(self.chain_not_routed(ended)).await);
                    }
                };
                let goes_on = |next: &NodeId| {
                    self.budget.goes_on() && !self.breakpoints.is_between(task.node, *next)
                };
                let next = next.filter(goes_on).or_else(|| {
                    let next = node.out.only_counted(picked).filter(goes_on)?;
                    let passes = self.frontier.followed.passes(plan, task.node, next);
                    passes.then_some(next)
                });
                let Some(next) = next else {
                    return self.chain_merged::<O>(picked.map_or(Routed::None, Routed::arm));
                };
                if O::OBSERVES {
                    // Storing needs all of the engine, which is taken apart anew afterwards.
                    break (next, picked);
                }
                task.node = next;
                check_cancelled(&self.position.scope)?;
                self.budget.begin_superstep(&self.position.scope);
                self.position.step += 1;
                cx.advance(task.node);
            };
            if !O::hold(self.store_link(next, picked)).await? {
                return Ok(Chained::Between);
            }
        }
    }

    /// Ends a chain after a task whose writes are merged.
    fn chain_merged<O: Observing>(&mut self, routes: Routed<S>) -> Result<Chained<S>, Stop> {
        if O::OBSERVES
            && let [task] = &*self.frontier.tasks
        {
            self.hold_merged(task.node, &routes)?;
        }
        Ok(Chained::Merged(routes))
    }

    /// Holds the copy of a merged output for the log.
    fn hold_merged(&mut self, node: NodeId, routes: &Routed<S>) -> Result<(), AgentError> {
        if let (Some(recorder), Some((mut done, _))) =
            (&mut self.observer.recorder, self.unrecorded.take())
        {
            done.routes.clone_from(routes);
            let joins = self.position.joins_left_in(node);
            recorder.keep_finished(0, node, done, joins)?;
        }
        Ok(())
    }

    /// Stores a superstep of a chain, and begins the one of `next`. Returns false if something else may
    /// precede that one.
    async fn store_link(
        &mut self,
        next: NodeId,
        picked: Option<usize>,
    ) -> Result<bool, AgentError> {
        let [task] = &mut *self.frontier.tasks else {
            return Ok(false);
        };
        let node = std::mem::replace(&mut task.node, next);
        if let (Some(recorder), Some((mut done, _))) =
            (&mut self.observer.recorder, self.unrecorded.take())
        {
            done.routes = picked.map_or(Routed::None, Routed::arm);
            let position = &self.position;
            recorder.keep_finished(0, node, done, position.joins_left_in(node))?;
            let (origin, pending) = (
                Origin::of_superstep(recorder.current()),
                self.frontier.pending(),
            );
            recorder.record(position, pending, origin, None).await?;
        }
        if self.drains() || self.has_later_inputs() {
            return Ok(false);
        }
        let scope = &*self.position.scope;
        check_cancelled(scope)?;
        self.budget.begin_superstep(scope);
        self.position.step += 1;
        if let [cx] = &mut *self.contexts {
            cx.advance(next);
        }
        if let Some(recorder) = &self.observer.recorder {
            recorder.place(&mut self.contexts);
        }
        Ok(true)
    }

    /// Ends a chain at a task whose routers have failed or interrupted after its writes were merged.
    async fn chain_not_routed(&mut self, ended: TaskResult<S>) -> Stop {
        self.results.push(Finished::merged(Routed::None).into());
        let merged = Merged {
            wrote: true,
            waits: false,
        };
        self.not_routed(0, ended, merged).await
    }
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

/// Returns what the log keeps of a task that only updates the state.
fn copy_of<S: State>(update: &S::Update, cx: &Context) -> Finished<S> {
    Finished {
        cached: cx.is_from_cache(),
        ..Finished::new(Output::update(update.clone()))
    }
}
