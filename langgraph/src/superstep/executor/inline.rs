//! Runs one task in the engine's own task: it spawns nothing and does not clone the state.

use super::{Executor, Stopped, TaskSlot};
use crate::graph::plan::Plan;
use crate::node::{Context, NodeError, catch};
use crate::state::State;
use crate::superstep::log::Observer;
use crate::superstep::moment::Moment;
use crate::superstep::route::asks_routers;
use crate::superstep::task::Task;
use crate::superstep::task_result::{Finished, TaskResult, classify};

/// Runs the only task of a superstep. The engine calls its routers after it has merged the task's
/// writes.
pub(in crate::superstep) struct Inline;

impl<S: State> Executor<S> for Inline {
    async fn run(
        &self,
        at: &Moment<'_, S>,
        slots: Vec<TaskSlot<S>>,
        observer: &mut Observer<S>,
    ) -> Result<Vec<TaskSlot<S>>, Stopped<S>> {
        for (index, slot) in slots.iter().enumerate() {
            if slot.known {
                continue;
            }
            let result = match slot.task.ran() {
                Some(done) => TaskResult::Finished(Finished::clone(done)),
                None => run_task(at.plan, at.state, &slot.cx, &slot.task).await,
            };
            let waits_for_routers = matches!(&result, TaskResult::Finished(done)
                if asks_routers(at.plan, slot.task.node, &done.output.jump));
            if !waits_for_routers && observer.watches(at) {
                let stored = observer
                    .task_ended(at, &slot.task, index, &result, true)
                    .await;
                // The error of a failed node is more important than an error of storing it.
                if let (Err(error), false) = (stored, matches!(result, TaskResult::Failed(_))) {
                    return Err(Stopped { slots, error });
                }
            }
            slot.set_result(result);
        }
        Ok(slots)
    }
}

/// Runs one task to its output, without its routers.
// A block and not an async function, whose arguments would take up space twice.
#[allow(clippy::manual_async_fn)]
fn run_task<'a, S: State>(
    plan: &'a Plan<S>,
    state: &'a S,
    cx: &'a Context,
    task: &'a Task<S>,
) -> impl Future<Output = TaskResult<S>> + Send + 'a {
    async move {
        let Some(node) = plan.node(task.node) else {
            return TaskResult::Failed(NodeError::msg("there is no such node"));
        };
        let answer = catch(|| node.step.call(task.call(state, cx))).await;
        classify(plan, task.node, state, cx, answer)
    }
}
