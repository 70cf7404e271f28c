//! Chains: supersteps of one task each that nobody observes, and how they become supersteps again.

use super::Engine;
use super::committed::{Committed, Direction, Flow, Unrouted};
use crate::error::AgentError;
use crate::graph::plan::{Plan, Routes};
use crate::node::{Context, Jump, NodeId, Output};
use crate::state::State;
use crate::superstep::end::End;
use crate::superstep::executor::TaskSlot;
use crate::superstep::executor::fast_path::{Bailout, Chain};
use crate::superstep::route::asks_routers;
use crate::superstep::task::Task;
use crate::superstep::task_result::{Finished, TaskResult};
use crate::superstep::writer::Writer;

impl<S: State> Engine<S> {
    /// Runs chains: supersteps of one task each, as long as nobody observes them.
    pub(super) async fn run_chains(
        &mut self,
        plan: &Plan<S>,
        cx: &mut Context,
    ) -> Result<Option<End>, AgentError> {
        loop {
            let Some(node) = self.plain_task().filter(|node| plan.items(*node).is_none()) else {
                return Ok(None);
            };
            let mut chain = Chain {
                plan,
                scope: &self.scope,
                cell: &mut self.cell,
                budget: &mut self.budget,
                cx,
            };
            let bailout = chain.run(node).await?;
            self.frontier.tasks.clear();
            let end = match bailout {
                Bailout::Before(node) => {
                    self.frontier.tasks.push(Task::by_edge(node));
                    return Ok(None);
                }
                Bailout::Nowhere => return Ok(None),
                Bailout::Ran(node, TaskResult::Finished(done))
                    if !asks_routers(plan, node, &done.output.jump) =>
                {
                    self.merge_and_follow(plan, node, done)?
                }
                Bailout::Merged(node, jump, Some(routes)) => {
                    self.follow(plan, node, jump, routes)?
                }
                Bailout::Merged(node, jump, None) if !asks_routers(plan, node, &jump) => {
                    self.follow(plan, node, jump, Vec::new())?
                }
                bailout => Box::pin(self.finish_superstep(plan, bailout)).await?,
            };
            if end.is_some() {
                return Ok(end);
            }
        }
    }

    /// Continues where a chain stops being a merge and one successor.
    async fn finish_superstep(
        &mut self,
        plan: &Plan<S>,
        bailout: Bailout<S>,
    ) -> Result<Option<End>, AgentError> {
        let unrouted = |engine: &Self, node| Unrouted {
            task: Task::by_edge(node),
            cx: engine.context(node),
            record: None,
        };
        match bailout {
            Bailout::Ran(node, result) => {
                let slot = TaskSlot::new(Task::by_edge(node), self.context(node));
                slot.set_result(result);
                match self.commit(plan, vec![slot]).await? {
                    Flow::Continue(committed) => self.route(plan, committed).await,
                    Flow::Pause(end) => Ok(Some(end)),
                    // Only tasks that an earlier run left can run again.
                    Flow::Again(tasks) => {
                        self.frontier.tasks = tasks;
                        Ok(None)
                    }
                }
            }
            Bailout::Merged(node, jump, routes) => {
                let asked = routes.is_some();
                let direction = Direction {
                    node,
                    jump,
                    routes: routes.unwrap_or_default(),
                    last: None,
                };
                let committed = Committed {
                    directions: vec![direction],
                    unrouted: (!asked).then(|| unrouted(self, node)),
                    wrote: true,
                    tasks: Vec::new(),
                };
                self.route(plan, committed).await
            }
            Bailout::Unrouted(node, ended) => {
                self.fail_routing(vec![Task::by_edge(node)], 0, ended, true)
                    .await
            }
            Bailout::Before(_) | Bailout::Nowhere => Ok(None),
        }
    }

    /// Merges the writes of the only task and follows its targets.
    fn merge_and_follow(
        &mut self,
        plan: &Plan<S>,
        node: NodeId,
        done: Finished<S>,
    ) -> Result<Option<End>, AgentError> {
        self.merge_one(plan, Writer::from(node), done.output.writes)?;
        self.follow(plan, node, done.output.jump, done.routes)
    }

    /// Follows the targets of the only task.
    fn follow(
        &mut self,
        plan: &Plan<S>,
        node: NodeId,
        jump: Jump<S>,
        routes: Vec<Routes<S>>,
    ) -> Result<Option<End>, AgentError> {
        match jump {
            Jump::Parent(parent) => return Ok(Some(End::Parent(parent))),
            jump => self.frontier.follow(plan, node, jump, routes)?,
        }
        self.frontier.put_in_order();
        Ok(None)
    }

    /// Merges the input and follows START's edges. Returns the input if START needs a superstep:
    /// somebody observes it, or it has routers or a jump.
    pub(super) fn take_input(
        &mut self,
        plan: &Plan<S>,
        input: Output<S>,
    ) -> Result<Option<Output<S>>, AgentError> {
        let leads = matches!(input.jump, Jump::Edges);
        if !leads || asks_routers(plan, NodeId::START, &input.jump) || !self.is_quiet() {
            return Ok(Some(input));
        }
        self.budget.begin_start();
        self.merge_one(plan, Writer::Start, input.writes)?;
        self.follow(plan, NodeId::START, Jump::Edges, Vec::new())?;
        Ok(None)
    }

    /// Returns the node of the next superstep, if it is a single task that an edge started.
    fn plain_task(&self) -> Option<NodeId> {
        match self.frontier.tasks.as_slice() {
            [task] if task.is_plain() && !self.budget.is_spent() => Some(task.node),
            _ => None,
        }
    }
}
