//! Runs one task.

use std::pin::Pin;
use std::task::{Poll, ready};

use super::{Position, Task, TaskResult, classify};
use crate::error::NodeError;
use crate::graph::plan::PlanNode;
use crate::node::{Call, Catch, Context, NodeRun, Output, catch};
use crate::state::State;

/// Runs the node of a task to the task's result. A panic becomes the error of the node.
pub(crate) fn run_task<'a, S: State>(
    position: &'a Position<S>,
    task: &'a Task<S>,
    cx: &'a Context,
) -> impl Future<Output = TaskResult<S>> + Send + 'a {
    let start = move || match position.plan.node(task.node) {
        Some(node) => {
            let call = task.call(&position.state, &position.written, cx);
            node.step.call(call)
        }
        None => NodeRun::ready(Err::<(), _>(NodeError::msg("there is no such node"))),
    };
    TaskRun {
        position,
        task,
        cx,
        run: catch(start),
    }
}

/// The future of [`run_task`]. It is small: tokio moves the future of a task ten times.
struct TaskRun<'a, S: State, C> {
    position: &'a Position<S>,
    task: &'a Task<S>,
    cx: &'a Context,
    run: Catch<C, NodeRun<'a, S>>,
}

impl<'a, S: State, C: FnOnce() -> NodeRun<'a, S> + Unpin> Future for TaskRun<'a, S, C> {
    type Output = TaskResult<S>;

    fn poll(mut self: Pin<&mut Self>, waker: &mut std::task::Context<'_>) -> Poll<TaskResult<S>> {
        let Self {
            position, task, cx, ..
        } = *self;
        if let Some(done) = task.ran() {
            return Poll::Ready(TaskResult::Finished(done.clone()));
        }
        // Looked at where it is left: nothing moves it before.
        let mut output = Output::none();
        let ran = ready!(self.run.poll_by(|run| run.poll_into(waker, &mut output)));
        let answer = ran.map(|()| output);
        let result = classify(&position.plan, task.node, &position.state, cx, answer);
        Poll::Ready(result)
    }
}

/// Runs a node, which leaves its output in `output`. A panic becomes its error. The call is made when the node begins:
/// the future is smaller without it.
#[inline]
pub(crate) fn run_node<'a, S: State>(
    node: &'a PlanNode<S>,
    call: impl FnOnce() -> Call<'a, S> + Send + 'a,
    output: &'a mut Output<S>,
) -> impl Future<Output = Result<(), Box<NodeError>>> + Send + 'a {
    catch(move || node.step.call(call()).into_place(output))
}
