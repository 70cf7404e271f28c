//! Chains: supersteps of one task each without an observer.

use std::sync::Arc;

use super::budget::check_cancelled;
use super::end::Stop;
use super::engine::Engine;
use crate::error::NodeError;
use crate::graph::routes::Routed;
use crate::graph::wiring::Successors;
use crate::node::{Jump, Output, Write, Writes, caught};
use crate::state::State;
use crate::task::{Finished, Routing, TaskResult, Writer, call_routers, classify, merge, run_node};

impl<S: State> Engine<S> {
    /// Returns true if plain supersteps need not end one by one: they only change the state.
    #[inline]
    pub(super) fn is_chain(&self) -> bool {
        let [task] = &*self.frontier.tasks else {
            return false;
        };
        task.is_plain()
            && self.observer.interrupt_ids.given.is_empty()
            && self.position.plan.fields.ephemeral.is_empty()
    }

    /// Runs the only task and, as long as each only merges an update and has one successor, the tasks
    /// that follow it. Returns the result of the last one, which is the current task then; what is
    /// merged already is not part of it.
    pub(super) async fn run_chain(&mut self) -> Result<TaskResult<S>, Stop> {
        let ([task], [cx]) = (&mut *self.frontier.tasks, &mut *self.contexts) else {
            return Ok(merged(Routed::None));
        };
        let plan = &*self.position.plan;
        // Nothing else holds the state: checked once, and not for every merge.
        let state = Arc::make_mut(&mut self.position.state);
        while let Some(node) = plan.node(task.node) {
            match run_node(node, task.call(state, cx)).await {
                Ok(Output {
                    writes: Writes::One(Write::Update(mut update)),
                    jump: Jump::Edges,
                }) if !cx.has_open_interrupt() => {
                    if let Err(panicked) = caught(|| state.prepare(&mut update)) {
                        return Ok(NodeError::from(panicked).into());
                    }
                    if let Some(changes) = &mut self.changes {
                        changes.note(&update);
                    }
                    merge(plan, Writer::Node(task.node), state, update)?;
                }
                answer => return Ok(classify(plan, task.node, state, cx, answer)),
            }
            let (mut next, mut picked) = (None, None);
            match node.out.successors {
                Successors::One(only) => next = Some(only),
                _ if node.out.routers.is_empty() => {}
                _ => match call_routers(plan, task.node, state, cx) {
                    Routing::Arm(arm) => {
                        next = node.out.only_node_of(arm);
                        picked = Some(arm);
                    }
                    Routing::Later(answers) => {
                        return Ok(answers.await.map_or_else(|ended| ended, merged));
                    }
                },
            }
            match next {
                Some(next)
                    if self.budget.goes_on() && !self.breakpoints.is_between(task.node, next) =>
                {
                    task.node = next;
                }
                _ => return Ok(merged(picked.map_or(Routed::None, Routed::arm))),
            }
            check_cancelled(&self.position.scope)?;
            self.budget.begin_superstep(&self.position.scope);
            self.position.step += 1;
            cx.advance(task.node);
        }
        Ok(merged(Routed::None))
    }
}

/// The result of a task whose writes are merged.
fn merged<S: State>(answers: Routed<S>) -> TaskResult<S> {
    let mut done = Finished::new(Output::none());
    done.routes = answers;
    TaskResult::Finished(done)
}
