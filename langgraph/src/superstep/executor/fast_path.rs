//! The executor of unobserved chains: one task after the other, each started by an edge.
//!
//! This is the hot loop. It returns the same results as every executor. It leaves commit and
//! routing to the engine whenever they are more than a merge and one successor.

use std::pin::pin;

use crate::error::AgentError;
use crate::graph::plan::{Asked, Plan, Routes, Successors};
use crate::node::{
    Call, Context, Jump, NodeError, NodeId, Output, Scope, Write, Writes, contained,
};
use crate::state::State;
use crate::superstep::budget::{Budget, check_cancelled};
use crate::superstep::commit::{StateCell, panicked_merging, refused};
use crate::superstep::route::check_answer;
use crate::superstep::task_result::{TaskResult, classify};
use crate::superstep::writer::Writer;

/// The part of a superstep whose code may panic.
enum Phase {
    Node,
    Merge,
    Router,
}

/// Why a chain ends, before panics and outputs are classified.
enum Halt<S: State> {
    /// This node's superstep has to wait.
    Before,
    /// There is no successor.
    Nowhere,
    /// The node returned more than an update.
    Answered(Result<Output<S>, NodeError>),
    /// The node's update is merged; its target is not a plain edge.
    Merged(Jump<S>),
    /// The only router answered, and its route is not a single arm.
    Routed(Result<Routes<S>, NodeError>),
}

/// Where the engine takes over from a chain.
pub(in crate::superstep) enum Bailout<S: State> {
    /// Before this node's superstep.
    Before(NodeId),
    /// The chain has ended.
    Nowhere,
    /// The node has run; nothing is merged yet.
    Ran(NodeId, TaskResult<S>),
    /// The node has run and its writes are merged. Its routers have answered, if there are routes.
    Merged(NodeId, Jump<S>, Option<Vec<Routes<S>>>),
    /// The node has run and its writes are merged; its routers failed.
    Unrouted(NodeId, TaskResult<S>),
}

/// What a chain changes while it runs.
pub(in crate::superstep) struct Chain<'a, S: State> {
    pub(in crate::superstep) plan: &'a Plan<S>,
    pub(in crate::superstep) scope: &'a Scope,
    pub(in crate::superstep) cell: &'a mut StateCell<S>,
    pub(in crate::superstep) budget: &'a mut Budget,
    pub(in crate::superstep) cx: &'a mut Context,
}

impl<S: State> Chain<'_, S> {
    /// Runs supersteps from `first`, as long as each is one task with one successor.
    pub(in crate::superstep) async fn run(
        &mut self,
        first: NodeId,
    ) -> Result<Bailout<S>, AgentError> {
        let mut node = first;
        let mut phase = Phase::Node;
        let halt = contained(pin!(self.run_chain(&mut node, &mut phase))).await;
        let halt = match (halt, phase) {
            (Ok(halt), _) => halt?,
            (Err(panicked), Phase::Node) => Halt::Answered(Err(panicked.into())),
            (Err(panicked), Phase::Merge) => {
                return Err(panicked_merging(self.plan, Writer::Node(node), panicked).into());
            }
            (Err(panicked), Phase::Router) => Halt::Routed(Err(panicked.into())),
        };
        Ok(match halt {
            Halt::Before => Bailout::Before(node),
            Halt::Nowhere => Bailout::Nowhere,
            Halt::Answered(answer) => {
                let state = &*self.cell.state;
                Bailout::Ran(node, classify(self.plan, node, state, self.cx, answer))
            }
            Halt::Merged(jump) => Bailout::Merged(node, jump, None),
            Halt::Routed(answer) => match check_answer(self.plan, node, self.cx, answer) {
                Ok(routes) => Bailout::Merged(node, Jump::Edges, Some(vec![routes])),
                Err(ended) => Bailout::Unrouted(node, ended),
            },
        })
    }

    async fn run_chain(
        &mut self,
        current: &mut NodeId,
        phase: &mut Phase,
    ) -> Result<Halt<S>, AgentError> {
        let (plan, scope, cx) = (self.plan, self.scope, &mut *self.cx);
        let budget = &mut *self.budget;
        // True if a write only changes the state.
        let direct = self.cell.changes.is_none() && plan.fields.ephemeral.is_empty();
        // Nobody else holds the state: checked once, and not for every merge.
        let state = std::sync::Arc::make_mut(&mut self.cell.state);
        while let Some(node) = plan.node(*current) {
            if budget.is_spent() {
                return Ok(Halt::Before);
            }
            check_cancelled(scope)?;
            if budget.begin_superstep(scope) {
                budget.give_turn().await;
            }
            cx.reuse(budget.shown_step(), budget.taken, *current);
            *phase = Phase::Node;
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
                    *phase = Phase::Merge;
                    state.prepare(&mut update);
                    if let Err(source) = state.try_merge(update) {
                        return Err(refused(plan, Writer::Node(*current), source).into());
                    }
                    jump
                }
                Ok(Output {
                    writes: Writes::None,
                    jump,
                }) if direct && !cx.has_open_question() => jump,
                answer => return Ok(Halt::Answered(answer)),
            };
            if !matches!(jump, Jump::Edges) {
                return Ok(Halt::Merged(jump));
            }
            // Plain edges own nothing. Dropping them is a call that finds this out.
            std::mem::forget(jump);
            match node.out.successors {
                Successors::One(next) => *current = next,
                Successors::Routed => {
                    let Some(router) = node.out.routers.first() else {
                        return Ok(Halt::Merged(Jump::Edges));
                    };
                    *phase = Phase::Router;
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
                    match router.next.get(arm) {
                        Some(Some(next)) => *current = *next,
                        _ if router.arms.get(arm).is_some_and(|nodes| nodes.is_empty()) => {
                            return Ok(Halt::Nowhere);
                        }
                        _ => return Ok(Halt::Routed(Ok(Routes::Arm(arm)))),
                    }
                }
                Successors::Several => return Ok(Halt::Merged(Jump::Edges)),
            }
        }
        Ok(Halt::Before)
    }
}
