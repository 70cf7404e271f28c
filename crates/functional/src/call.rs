//! Calls of tasks.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};

use langgraph::prelude::*;
use langgraph::run::FunctionCall;

use crate::task::{Task, TaskState, TaskStateUpdate, given, is_stored, unreadable, unwritable};
use crate::task_executor::TaskExecutor;
use crate::value::TaskValue;

/// A call of a task, which starts when it is awaited [on](Self::on) a context.
#[derive(Debug)]
#[must_use = "a task does nothing until it is called on a context: write `.on(cx).await`"]
pub struct TaskCall<K: Task> {
    arguments: K::Arguments,
    key: Option<String>,
}

impl<K: Task> TaskCall<K> {
    #[doc(hidden)]
    pub fn new(arguments: K::Arguments) -> Self {
        Self {
            arguments,
            key: None,
        }
    }

    /// Identifies the call by a key instead of by the order of the calls. Calls whose order depends on what ends
    /// first need one. The keys of one entrypoint must differ.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Runs the task, or gives the result that it has left.
    ///
    /// The order of the calls of `on` counts, not the order in which their futures are polled: with
    /// `tokio::join!` tasks run side by side. A future that is never polled does nothing, and dropping it ends
    /// the task.
    ///
    /// # Errors
    ///
    /// The error of the task. Also if the call was another one when the function ran before: another task, or
    /// other arguments.
    pub fn on(self, cx: &Context) -> impl Future<Output = Result<K::Output, NodeError>> {
        let prepared = self.prepare(cx);
        async move {
            match prepared? {
                Prepared::Function(call, arguments) => {
                    let call = call.begin()?;
                    // Boxed, as the future of every node: that of a call stays small.
                    call.end(Box::pin(K::run(arguments, call.context()))).await
                }
                Prepared::Graph(call) => call.await,
            }
        }
    }

    /// Takes the call's place in the order of the calls.
    fn prepare(
        self,
        cx: &Context,
    ) -> Result<Prepared<'_, K, impl Future<Output = Returned<K>>>, NodeError> {
        let Self { arguments, key } = self;
        let mut call = cx.call(graph::<K>(cx)?).keep(kept);
        if let Some(key) = &key {
            call = call.key(key);
        }
        if let Some(call) = call.as_function() {
            return Ok(Prepared::Function(call, arguments));
        }
        let is_stored = is_stored(cx);
        let arguments =
            given::<K>(arguments, is_stored).map_err(unwritable::<K>("the arguments of"))?;
        let (entrypoint, given) = (cx.node().to_owned(), arguments.clone());
        // A call that was recorded and had not begun has no arguments yet.
        call = call.check(move |before: &TaskState| match &*before.task {
            "" => Ok(()),
            _ => same::<K>(&entrypoint, before, &given),
        });
        // Only a stored call may have been recorded before it had begun.
        let stored = is_stored.then(|| arguments.clone());
        let update = TaskStateUpdate::default()
            .task(Cow::Borrowed(K::NAME))
            .arguments(arguments);
        let call = call.run(update);
        Ok(Prepared::Graph(Box::pin(async move {
            let state = call.await?;
            if let Some(arguments) = stored {
                same::<K>(cx.node(), &state, &arguments)?;
            }
            let output = state.output.unwrap_or_default().into_output();
            output.map_err(unreadable::<K>("the result of"))
        })))
    }
}

/// Returns what another attempt of the entrypoint reads of a call where no log has it: JSON, since the result itself is
/// returned now. What JSON cannot express is not kept.
fn kept(state: &TaskState) -> Option<TaskState> {
    let json = |value: &TaskValue| value.to_value().ok().map(TaskValue::from);
    let output = match &state.output {
        Some(output) => Some(json(output)?),
        None => None,
    };
    Some(TaskState {
        task: state.task.clone(),
        arguments: json(&state.arguments)?,
        output,
    })
}

/// What a call returns.
type Returned<K> = Result<<K as Task>::Output, NodeError>;

/// A call that has its place.
enum Prepared<'a, K: Task, F> {
    /// Nothing observes it: the function is called.
    Function(FunctionCall<'a, TaskState>, K::Arguments),
    Graph(F),
}

/// Returns the graph that runs a task.
fn graph<K: Task>(cx: &Context) -> Result<&CompiledStateGraph<TaskState>, NodeError> {
    if K::ANYWHERE
        && let Ok(executor) = cx.resource::<TaskExecutor>()
    {
        return executor.graph::<K>();
    }
    K::graph().get::<K>()
}

/// A call that has a context; no call has one before [`on`](TaskCall::on).
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a task is called on a context: write `.on(cx).await`",
    label = "this call has no context"
)]
pub trait OnContext {}

/// Only for the message of `OnContext`: a call is awaited [on](TaskCall::on) a context.
impl<K: Task> Future for TaskCall<K>
where
    Self: OnContext,
{
    type Output = Result<K::Output, NodeError>;

    fn poll(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

/// Fails if a call was another one before.
fn same<K: Task>(
    entrypoint: &str,
    before: &TaskState,
    arguments: &TaskValue,
) -> Result<(), NodeError> {
    if before.task == K::NAME && before.arguments == *arguments {
        return Ok(());
    }
    Err(NodeError::msg(format!(
        "`{entrypoint}` has changed its course: where it called `{}` with {} before, it calls `{}` with {arguments} \
         now; calls whose order or arguments may differ need a key of their own: `.key(\"…\")`",
        before.task,
        before.arguments,
        K::NAME
    )))
}
