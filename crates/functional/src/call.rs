//! Calls of tasks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use langgraph::prelude::*;
use serde_json::Value;

use crate::stored::Stored;
use crate::task::{Task, TaskState, TaskStateUpdate, unreadable, unwritable};

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
        let Self { arguments, key } = self;
        let node = cx.node().to_owned();
        let prepared = K::graph().get::<K>().and_then(|graph| {
            let arguments = K::write(&arguments).map_err(unwritable::<K>("the arguments of"))?;
            let arguments = Arc::new(arguments);
            let update = TaskStateUpdate::default()
                .task(K::NAME.to_owned())
                .arguments(Value::clone(&arguments));
            let call = match &key {
                Some(key) => cx.call(graph).key(key),
                None => cx.call(graph),
            };
            let (entrypoint, given) = (node.clone(), Arc::clone(&arguments));
            // A call that was recorded and had not begun has no arguments yet.
            let check = move |before: &TaskState| match before.task.as_str() {
                "" => Ok(()),
                _ => same::<K>(&entrypoint, before, &given),
            };
            Ok((call.check(check).run(update), arguments))
        });
        async move {
            let (call, arguments) = prepared?;
            let state = call.await?;
            same::<K>(&node, &state, &arguments)?;
            let output = state.output.unwrap_or_default();
            K::Output::from_value(output).map_err(unreadable::<K>("the result of"))
        }
    }
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
fn same<K: Task>(entrypoint: &str, before: &TaskState, arguments: &Value) -> Result<(), NodeError> {
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
