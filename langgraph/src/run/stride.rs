//! Supersteps of one task that nobody watches: the loop one would write by hand.
//!
//! The general loop does the same; this one has nothing to tell, to store or to pause at, and so
//! keeps to what a chain of nodes needs. Panics are caught once around the whole stride and not
//! around each of its calls: a note of what is being done says afterwards whose panic it was.

use std::pin::pin;
use std::sync::Arc;

use super::commit::{panicked_merging, refused};
use super::end::End;
use super::ended::{judge, prepare};
use super::look::asks;
use super::machine::Machine;
use super::panic::contained;
use super::route::{ask, check_answer};
use super::task::Task;
use super::turn::{TURN, check_cancelled, give_turn};
use crate::AgentError;
use crate::graph::plan::{Ahead, Asked, Plan, Routes};
use crate::node::{Call, Context, Jump, NodeError, Output, Write, Writes};
use crate::state::State;

/// What a stride is doing.
struct Doing {
    node: usize,
    part: Part,
}

/// The part of a superstep whose code may panic.
enum Part {
    Node,
    Merge,
    Router,
}

/// Why a stride ends.
enum Halt<S: State> {
    /// Nothing follows.
    Nowhere,
    /// The superstep of this node has to wait.
    Before,
    /// The node answered with more than an update.
    Answered(Result<Output<S>, NodeError>),
    /// The node's update is merged; where it leads is not plain.
    Merged(Jump<S>),
    /// Its only router answered, and where that leads is not plain.
    Routed(Result<Routes<S>, NodeError>),
}

impl<S: State> Machine<S> {
    /// Takes supersteps for as long as the frontier is one task without a past.
    pub(crate) async fn stride(
        &mut self,
        plan: &Plan<S>,
        cx: &mut Context,
    ) -> Result<Option<End>, AgentError> {
        while let Some(node) = self.plain_task() {
            let mut doing = Doing {
                node,
                part: Part::Node,
            };
            let halt = contained(pin!(self.sprint(plan, cx, &mut doing))).await;
            let Doing { node, part } = doing;
            let halt = match (halt, part) {
                (Ok(halt), _) => halt?,
                (Err(panicked), Part::Node) => Halt::Answered(Err(panicked.into())),
                (Err(panicked), Part::Merge) => {
                    return Err(panicked_merging(plan, node, panicked).into());
                }
                (Err(panicked), Part::Router) => Halt::Routed(Err(panicked.into())),
            };
            let (jump, routes) = match halt {
                Halt::Nowhere => {
                    self.frontier.clear();
                    return Ok(None);
                }
                Halt::Before => {
                    if let Some(task) = self.frontier.first_mut() {
                        task.node = node;
                    }
                    return Ok(None);
                }
                Halt::Answered(Ok(mut output)) if !cx.has_open_question() => {
                    prepare(&*self.state, &mut output.writes);
                    self.commit().one(node, output.writes)?;
                    (output.jump, None)
                }
                Halt::Answered(answer) => {
                    let ended = judge(&*self.state, cx, answer);
                    self.frontier.clear();
                    let task = Task::by_edge(node);
                    match Box::pin(self.finish_one(plan, task, ended, cx, false)).await? {
                        None => continue,
                        end => return Ok(end),
                    }
                }
                Halt::Merged(jump) => (jump, None),
                Halt::Routed(answer) => match check_answer(plan, node, cx, answer) {
                    Ok(routes) => (Jump::Edges, Some(vec![routes])),
                    Err(unsettled) => {
                        self.frontier.clear();
                        return self.stop(Task::by_edge(node), unsettled);
                    }
                },
            };
            self.frontier.clear();
            let routes = match routes {
                Some(routes) => routes,
                None if asks(plan, node, &jump) => match ask(plan, node, &*self.state, cx).await {
                    Ok(routes) => routes,
                    Err(unsettled) => return self.stop(Task::by_edge(node), unsettled),
                },
                None => Vec::new(),
            };
            match jump {
                Jump::Parent(parent) => return Ok(Some(End::Parent(parent))),
                jump => self.follow(plan, node, jump, routes)?,
            }
            self.settle();
        }
        Ok(None)
    }

    /// Goes from node to node while each answers with an update and leads to one other.
    async fn sprint(
        &mut self,
        plan: &Plan<S>,
        cx: &mut Context,
        doing: &mut Doing,
    ) -> Result<Halt<S>, AgentError> {
        // True when a write only changes the state.
        let direct = self.changes.is_none() && plan.fields.ephemeral.is_empty();
        // Nobody else holds it: asked once, and not for every merge.
        let state = Arc::make_mut(&mut self.state);
        while let Some(node) = plan.nodes.get(doing.node) {
            if self.taken >= self.scope.limit {
                return Ok(Halt::Before);
            }
            check_cancelled(&self.scope)?;
            self.taken += 1;
            self.step += 1;
            if let Some(pulse) = &self.scope.pulse {
                pulse.beat();
            }
            if self.taken.is_multiple_of(TURN) {
                give_turn(&mut self.last_turn).await;
            }
            let step = usize::try_from(self.step).unwrap_or(0);
            cx.reuse(step, self.taken, doing.node);
            doing.part = Part::Node;
            let call = Call {
                state: &*state,
                item: None,
                cx,
            };
            let jump = match node.step.call(call).await {
                Ok(Output {
                    writes: Writes::One(Write::Update(mut update)),
                    jump,
                }) if direct && !cx.has_open_question() => {
                    doing.part = Part::Merge;
                    state.prepare(&mut update);
                    if let Err(source) = state.try_merge(update) {
                        return Err(refused(plan, doing.node, source).into());
                    }
                    jump
                }
                Ok(Output {
                    writes: Writes::None,
                    jump,
                }) if direct && !cx.has_open_question() => jump,
                answer => return Ok(Halt::Answered(answer)),
            };
            // Matched by value: along the edges, there is nothing to drop.
            let Jump::Edges = jump else {
                return Ok(Halt::Merged(jump));
            };
            match node.out.ahead {
                Ahead::Node(next) => doing.node = next,
                Ahead::Router => {
                    let Some(router) = node.out.routers.first() else {
                        return Ok(Halt::Merged(Jump::Edges));
                    };
                    doing.part = Part::Router;
                    cx.begin_routing();
                    let arm = match router.router.ask(&*state, cx) {
                        Asked::Arm(arm) => arm,
                        Asked::Run(run) => match run.await {
                            Ok(Routes::Arm(arm)) => arm,
                            answer => return Ok(Halt::Routed(answer)),
                        },
                    };
                    if cx.has_open_question() {
                        return Ok(Halt::Routed(Ok(Routes::Arm(arm))));
                    }
                    match router.arms.get(arm).map(|nodes| &**nodes) {
                        Some([]) => return Ok(Halt::Nowhere),
                        Some([next]) if !plan.defers(*next) => doing.node = *next,
                        _ => return Ok(Halt::Routed(Ok(Routes::Arm(arm)))),
                    }
                }
                Ahead::Much => return Ok(Halt::Merged(Jump::Edges)),
            }
        }
        Ok(Halt::Before)
    }

    /// The node of the next superstep, if it is one task that an edge has started.
    pub(crate) fn plain_task(&self) -> Option<usize> {
        match self.frontier.as_slice() {
            [task]
                if task.is_plain()
                    && task.node < self.plan.nodes.len()
                    && self.taken < self.scope.limit =>
            {
                Some(task.node)
            }
            _ => None,
        }
    }
}
