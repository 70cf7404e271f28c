//! Running the node of one task.

use super::ended::{Ended, judge};
use super::panic::catch;
use super::route::check_jump;
use super::task::Task;
use crate::graph::plan::Plan;
use crate::node::{Context, NodeError};
use crate::state::State;

/// Runs one task to its output. Its routers are not asked yet.
// A block and not an async function, whose arguments would take up room twice.
#[allow(clippy::manual_async_fn)]
pub(crate) fn run_task<'a, S: State>(
    plan: &'a Plan<S>,
    state: &'a S,
    cx: &'a Context,
    task: &'a Task<S>,
) -> impl Future<Output = Ended<S>> + Send + 'a {
    async move {
        let Some(node) = plan.nodes.get(task.node) else {
            return Ended::Failed(NodeError::msg("there is no such node"));
        };
        let result = catch(|| node.step.call(task.call(state, cx))).await;
        match judge(state, cx, result) {
            Ended::Finished(done) => match check_jump(plan, task.node, &done.output.jump) {
                Ok(()) => Ended::Finished(done),
                Err(error) => Ended::Failed(error),
            },
            ended => ended,
        }
    }
}
