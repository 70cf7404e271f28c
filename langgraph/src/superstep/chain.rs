//! Chains: plain supersteps of one task each, whose events are not read.

use std::sync::Arc;

use super::budget::check_cancelled;
use super::commit::{Merged, clear_ephemeral};
use super::end::Stop;
use super::engine::{Engine, Ran};
use super::observing::Observing;
use crate::error::NodeError;
use crate::graph::plan::Plan;
use crate::graph::routes::Routed;
use crate::log::Putting;
use crate::node::{Context, Jump, NodeId, Output, caught};
use crate::state::{State, Write, Writes};
use crate::task::{Finished, Routing, TaskResult, Writer, call_routers, classify, merge, run_node};

impl<S: State> Engine<S> {
    /// Returns true if plain supersteps need not end one by one: they only change the state, and the
    /// log.
    #[inline]
    pub(super) fn is_chain(&self) -> bool {
        matches!(&*self.frontier.tasks, [task] if task.is_plain())
            && self.position.scope.emitter.is_none()
            && self.observer.interrupt_ids.given.is_empty()
    }

    /// Runs the only task and, as long as each only merges an update, has one successor and is not stored,
    /// the tasks that follow it. The result of the last one is an ordinary one.
    pub(super) async fn run_chain<O: Observing>(&mut self) -> Result<Ran, Stop> {
        let ([task], [cx]) = (&mut *self.frontier.tasks, &mut *self.contexts) else {
            return Ok(Ran::Tasks);
        };
        let plan = &*self.position.plan;
        // Nothing else holds the state: checked once, and not for every merge.
        let state = Arc::make_mut(&mut self.position.state);
        loop {
            let Some(node) = plan.node(task.node) else {
                return Ok(self.chain_merged(Routed::None));
            };
            let answer = {
                let call = || task.call(state, &self.position.written, cx);
                run_node(node, call).await
            };
            let update = match only_update(plan, task.node, state, cx, answer) {
                Ok(update) => update,
                Err(ended) => {
                    self.results.push(ended);
                    return Ok(Ran::Tasks);
                }
            };
            if !plan.fields.ephemeral.is_empty() {
                clear_ephemeral(plan, state, self.changes.as_mut());
                self.position.written.remove(&plan.fields.ephemeral);
            }
            if let Some(changes) = &mut self.changes {
                changes.note(&update);
            }
            if O::OBSERVES && self.observer.recorder.is_some() {
                self.position.written.add(&state.written(&update));
                self.unrecorded = Some((copy_of(&update, cx), Vec::new()));
            }
            merge(plan, Writer::Node(task.node), state, update)?;
            let routed = if node.out.routers.is_empty() {
                Ok(None)
            } else {
                match call_routers(plan, task.node, state, cx) {
                    Routing::Arm(arm) => Ok(Some(arm)),
                    Routing::Later(answers) => Err(answers.await),
                }
            };
            let picked = match routed {
                Ok(picked) => picked,
                Err(Ok(routes)) => return Ok(self.chain_merged(routes)),
                Err(Err(ended)) => return Err(Box::pin(self.chain_not_routed(ended)).await),
            };
            let goes_on = |next: &NodeId| {
                self.budget.goes_on() && !self.breakpoints.is_between(task.node, *next)
            };
            let next = node.out.only_next(picked).filter(goes_on).or_else(|| {
                let next = node.out.only_counted(picked).filter(goes_on)?;
                let passes = self.frontier.followed.passes(plan, task.node, next);
                passes.then_some(next)
            });
            let Some(next) = next else {
                return Ok(self.chain_merged(picked.map_or(Routed::None, Routed::arm)));
            };
            if O::OBSERVES {
                let node = std::mem::replace(&mut task.node, next);
                O::hold(self.store_link(node, picked)).await?;
                return Ok(Ran::Superstep);
            }
            task.node = next;
            check_cancelled(&self.position.scope)?;
            self.budget.begin_superstep(&self.position.scope);
            self.position.step += 1;
            cx.advance(next);
        }
    }

    /// Ends a chain after a task whose writes are merged.
    fn chain_merged(&mut self, routes: Routed<S>) -> Ran {
        if let Some((done, _)) = &mut self.unrecorded {
            done.routes.clone_from(&routes);
        }
        self.results.push(Finished::merged(routes).into());
        Ran::Merged
    }

    /// Ends a chain at a task whose routers have failed or interrupted after its writes were merged.
    async fn chain_not_routed(&mut self, ended: TaskResult<S>) -> Stop {
        self.results.push(Finished::merged(Routed::None).into());
        self.not_routed(0, ended, Merged::WRITES).await
    }

    /// Stores a superstep of a chain, whose node one other follows.
    fn store_link(&mut self, node: NodeId, picked: Option<usize>) -> Putting<'_> {
        if let (Some(recorder), Some((mut done, _))) =
            (&mut self.observer.recorder, self.unrecorded.take())
        {
            done.routes = picked.map_or(Routed::None, Routed::arm);
            let joins = self.position.joins_left_in(node);
            if let Err(error) = recorder.keep_finished(0, node, done, joins) {
                return Putting::stored(Err(error));
            }
        }
        let (position, pending) = (&self.position, self.frontier.pending());
        self.observer.store_superstep(position, pending, false)
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
