//! Supersteps of one task that nobody watches: the loop one would write by hand.
//!
//! The general loop does the same; this one has nothing to tell, to store or to pause at, and so
//! keeps to what a chain of nodes needs.

use std::sync::Arc;

use super::commit::merge;
use super::execute::{asks, judge, prepare};
use super::machine::{End, Machine, TURN, Task};
use super::panic::catch;
use super::route::ask;
use crate::AgentError;
use crate::graph::plan::Plan;
use crate::node::{Call, Context, Jump, Output, Write, Writes};
use crate::state::State;

impl<S: State> Machine<S> {
    /// Takes supersteps for as long as the frontier is one task without a past.
    pub(super) async fn stride(
        &mut self,
        plan: &Plan<S>,
        cx: &mut Context,
    ) -> Result<Option<End>, AgentError> {
        // True when a write only changes the state.
        let direct = self.changes.is_none() && plan.fields.ephemeral.is_empty();
        while let Some(index) = self.plain_task() {
            let Some(node) = plan.nodes.get(index) else {
                return Ok(None);
            };
            if self.taken >= self.scope.limit {
                return Ok(None);
            }
            self.check_cancelled()?;
            self.taken += 1;
            self.step += 1;
            if let Some(pulse) = &self.scope.pulse {
                pulse.beat();
            }
            if self.taken.is_multiple_of(TURN) {
                self.give_turn().await;
            }
            cx.reuse(self.shown_step(), self.taken, index);
            let call = Call {
                state: &*self.state,
                item: None,
                cx,
            };
            let output = match catch(|| node.step.call(call)).await {
                Ok(output) if !cx.has_open_question() => output,
                result => {
                    let ended = judge(&*self.state, cx, result);
                    let task = self.frontier.pop().unwrap_or(Task::by_edge(index));
                    match self.finish_one(plan, task, ended, cx, false).await? {
                        None => continue,
                        end => return Ok(end),
                    }
                }
            };
            let Output { mut writes, jump } = output;
            match writes {
                // What most nodes answer with, merged where it is.
                Writes::One(Write::Update(mut update)) if direct => {
                    let state = Arc::make_mut(&mut self.state);
                    state.prepare(&mut update);
                    merge(plan, index, state, update)?;
                }
                Writes::None if direct => {}
                _ => {
                    prepare(&*self.state, &mut writes);
                    self.commit().one(index, writes)?;
                }
            }
            if let (Jump::Edges, Some(next)) = (&jump, node.out.only) {
                // The next superstep is one task again: the frontier stays as it is.
                if let Some(task) = self.frontier.first_mut() {
                    task.node = next;
                }
                continue;
            }
            self.frontier.clear();
            let routes = if asks(plan, index, &jump) {
                match ask(plan, index, &*self.state, cx).await {
                    Ok(routes) => routes,
                    Err(unsettled) => return self.stop(Task::by_edge(index), unsettled),
                }
            } else {
                Vec::new()
            };
            match jump {
                Jump::Parent(parent) => return Ok(Some(End::Parent(parent))),
                jump => self.follow(plan, index, jump, routes)?,
            }
            self.settle();
        }
        Ok(None)
    }

    /// The node of the next superstep, if it is one task that an edge has started.
    fn plain_task(&self) -> Option<usize> {
        match self.frontier.as_slice() {
            [task]
                if task.argument.is_none() && task.answers.is_empty() && task.prior.is_none() =>
            {
                Some(task.node)
            }
            _ => None,
        }
    }
}
