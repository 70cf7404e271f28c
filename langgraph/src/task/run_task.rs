//! Runs one task.

use std::future::poll_fn;
use std::task::{Poll, ready};

use super::{Position, Task, TaskResult, classify};
use crate::error::NodeError;
use crate::graph::plan::PlanNode;
use crate::node::{Call, Catch, Context, NodeRun, Output, catch};
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
        let Some(node) = position.plan.node(task.node) else {
            return NodeError::msg("there is no such node").into();
        };
        let mut run = run_node(node, || task.call(&position.state, &position.written, cx));
        poll_fn(|task_cx| {
            let mut output = Output::none();
            let ran = ready!(run.poll_by(|run| run.poll_into(task_cx, &mut output)));
            let answer = ran.map(|()| output).map_err(|error| *error);
            let result = classify(&position.plan, task.node, &position.state, cx, answer);
            Poll::Ready(result)
        })
        .await
    }
}

/// Runs a node. A panic becomes its error. The call is made when the node begins: the future is smaller without it.
#[inline]
pub(crate) fn run_node<'a, S: State, C: FnOnce() -> Call<'a, S>>(
    node: &'a PlanNode<S>,
    call: C,
) -> Catch<impl FnOnce() -> NodeRun<'a, S> + use<'a, S, C>, NodeRun<'a, S>> {
    catch(move || node.step.call(call()))
}

/// As [`run_node`], and leaves the output in a place.
#[inline]
pub(crate) fn run_node_into<'a, S: State>(
    node: &'a PlanNode<S>,
    call: impl FnOnce() -> Call<'a, S> + Send + 'a,
    output: &'a mut Output<S>,
) -> impl Future<Output = Result<(), Box<NodeError>>> + Send + 'a {
    catch(move || node.step.call(call()).into_place(output))
}
