//! Runs one task.

use super::position::Position;
use super::route::{asks_routers, route_on_view};
use super::task::Task;
use super::task_result::{TaskResult, classify};
use crate::graph::plan::Plan;
use crate::node::{Context, NodeError, NodeRun, Output, catch};
use crate::state::State;

/// Runs a task to its result. A panic becomes the error of the node.
///
/// Of a task beside others, the routers are asked too: they see the snapshot with the writes of this
/// task. Those of an only task, and of the tasks of a map, are asked once the writes are merged.
// A block and not an async function, whose arguments would take up space twice.
#[allow(clippy::manual_async_fn)]
pub(super) fn run_task<'a, S: State>(
    position: &'a Position<S>,
    task: &'a Task<S>,
    cx: &'a Context,
    beside_others: bool,
) -> impl Future<Output = TaskResult<S>> + Send + 'a {
    async move {
        let plan: &Plan<S> = &position.plan;
        let result = match task.ran() {
            Some(done) => TaskResult::Finished(done.clone()),
            None => {
                let answer = catch(|| call(position, task, cx)).await;
                classify(plan, task.node, &position.state, cx, answer)
            }
        };
        match result {
            TaskResult::Finished(done)
                if beside_others
                    && asks_routers(plan, task.node, &done.output.jump)
                    && !task.is_item_of(plan) =>
            {
                Box::pin(route_on_view(plan, task.node, &position.state, cx, done)).await
            }
            result => result,
        }
    }
}

fn call<'a, S: State>(
    position: &'a Position<S>,
    task: &'a Task<S>,
    cx: &'a Context,
) -> NodeRun<'a, S> {
    match position.plan.node(task.node) {
        Some(node) => node.step.call(task.call(&position.state, cx)),
        None => NodeRun::ready(Err::<Output<S>, _>(NodeError::msg("there is no such node"))),
    }
}
