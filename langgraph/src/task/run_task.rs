//! Runs one task.

use super::{Position, Task, TaskResult, classify};
use crate::error::NodeError;
use crate::graph::plan::PlanNode;
use crate::node::{Call, Context, Output, catch};
use crate::state::State;

/// Runs the node of a task to the task's result. A panic becomes the error of the node.
// A block and not an async function, whose arguments would take up space twice.
#[allow(clippy::manual_async_fn)]
pub(crate) fn run_task<'a, S: State>(
    position: &'a Position<S>,
    task: &'a Task<S>,
    cx: &'a Context,
) -> impl Future<Output = TaskResult<S>> + Send + 'a {
    async move {
        if let Some(done) = task.ran() {
            return TaskResult::Finished(done.clone());
        }
        let answer = match position.plan.node(task.node) {
            Some(node) => {
                let call = move || task.call(&position.state, &position.written, cx);
                run_node(node, call).await
            }
            None => Err(NodeError::msg("there is no such node")),
        };
        classify(&position.plan, task.node, &position.state, cx, answer)
    }
}

/// Runs a node, and leaves its output in a place. A panic becomes its error. As [`run_node`], otherwise.
#[inline]
pub(crate) fn run_node_into<'a, S: State>(
    node: &'a PlanNode<S>,
    call: impl FnOnce() -> Call<'a, S> + Send + 'a,
    output: &'a mut Output<S>,
) -> impl Future<Output = Result<(), Box<NodeError>>> + Send + 'a {
    catch(move || node.step.call(call()).into_place(output))
}

/// Runs a node. A panic becomes its error. The call is made when the node begins: the future is smaller without it.
#[inline]
pub(crate) fn run_node<'a, S: State>(
    node: &'a PlanNode<S>,
    call: impl FnOnce() -> Call<'a, S> + Send + 'a,
) -> impl Future<Output = Result<Output<S>, NodeError>> + Send + 'a {
    catch(move || node.step.call(call()))
}
