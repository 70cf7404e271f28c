//! Tasks: the steps of an entrypoint.

use std::borrow::Cow;
use std::future::Future;
use std::sync::OnceLock;

use langgraph::graph::{ConfiguredNode, IntoNode};
use langgraph::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::keys::Keys;
use crate::stored::Stored;
use crate::value::{Given, TaskValue};

/// A step of an entrypoint, whose result is kept; [`#[task]`](macro@crate::task) implements it.
pub trait Task: Sized + Send + Sync + 'static {
    /// The name, as threads, events and pictures show it.
    const NAME: &'static str;

    /// True if it may run in another process.
    const ANYWHERE: bool = false;

    /// The text of the type of its result; empty if it is unknown.
    const OUTPUT: &'static str = "";

    /// The arguments, a tuple.
    type Arguments: Send + Sync + 'static;

    /// The result.
    type Output: Stored;

    /// Writes the arguments as a list.
    ///
    /// # Errors
    ///
    /// If JSON cannot express one of them.
    fn write(arguments: &Self::Arguments) -> Result<Value, serde_json::Error>;

    /// Reads the arguments.
    ///
    /// # Errors
    ///
    /// If one of them is of another type.
    fn read(arguments: Value) -> Result<Self::Arguments, serde_json::Error>;

    /// Returns a copy of the arguments, if they are `Clone`.
    fn copy(_: &Self::Arguments) -> Option<Self::Arguments> {
        None
    }

    /// Does the work.
    fn run(
        arguments: Self::Arguments,
        cx: &Context,
    ) -> impl Future<Output = Result<Self::Output, NodeError>> + Send;

    /// Adds what threads remember of it by a key, as far as it is known.
    #[doc(hidden)]
    fn keys(_: &mut Keys) {}

    /// Adds the options of the task.
    fn configure(node: ConfiguredNode<TaskState>) -> ConfiguredNode<TaskState> {
        node
    }

    /// Returns the task's graph, which is compiled at the first call.
    fn graph() -> &'static TaskGraph;
}

/// A task that may run in another process; [`#[task(anywhere)]`](macro@crate::task) implements it.
#[diagnostic::on_unimplemented(
    message = "this task runs only in the process of its entrypoint",
    label = "not a task that may run anywhere",
    note = "let it run in other processes with `#[task(anywhere)]`"
)]
pub trait Anywhere: Task {}

/// The state of a task, as threads and events show it.
#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskState {
    /// The name of the task.
    pub task: Cow<'static, str>,
    /// The arguments, a list.
    pub arguments: TaskValue,
    /// The result, when the task has ended; a result that is nothing, such as `()`, is `None`.
    pub output: Option<TaskValue>,
}

/// The graph of a task: a single node.
#[derive(Debug, Default)]
pub struct TaskGraph(OnceLock<Result<CompiledStateGraph<TaskState>, String>>);

impl TaskGraph {
    /// Creates a graph that is compiled at the first call.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    pub(crate) fn get<K: Task>(&self) -> Result<&CompiledStateGraph<TaskState>, NodeError> {
        let compiled = self.0.get_or_init(|| {
            let mut graph = StateGraph::new();
            graph
                .add_node(K::NAME, task_node::<K>())
                .add_sequence(&[K::NAME]);
            graph.compile().map_err(|errors| errors.to_string())
        });
        let failed =
            |why: &String| NodeError::msg(format!("the task `{}` is not valid: {why}", K::NAME));
        compiled.as_ref().map_err(failed)
    }
}

/// Returns the node of a task.
pub(crate) fn task_node<K: Task>() -> ConfiguredNode<TaskState> {
    K::configure(perform::<K>.into_node())
}

/// Returns true if the values of the context's tasks are stored.
pub(crate) fn is_stored(cx: &Context) -> bool {
    cx.thread_id().is_some()
}

struct GivenArguments<K: Task>(K::Arguments);

impl<K: Task> Given for GivenArguments<K> {
    fn to_value(&self) -> Result<Value, serde_json::Error> {
        K::write(&self.0)
    }
}

/// Returns the arguments of a call as its state has them.
pub(crate) fn given<K: Task>(
    arguments: K::Arguments,
    is_stored: bool,
) -> Result<TaskValue, serde_json::Error> {
    if is_stored {
        return Ok(K::write(&arguments)?.into());
    }
    Ok(TaskValue::given(GivenArguments::<K>(arguments)))
}

/// Returns the arguments of a task, which may need them again for another attempt.
fn arguments<K: Task>(value: &TaskValue) -> Result<K::Arguments, serde_json::Error> {
    let given = value.as_given::<GivenArguments<K>>();
    match given.and_then(|given| K::copy(&given.0)) {
        Some(arguments) => Ok(arguments),
        None => K::read(value.to_value()?),
    }
}

async fn perform<K: Task>(state: &TaskState, cx: &Context) -> Result<TaskStateUpdate, NodeError> {
    let arguments =
        arguments::<K>(&state.arguments).map_err(unreadable::<K>("the arguments of"))?;
    let output = K::run(arguments, cx).await?;
    let output = TaskValue::of_output(output, is_stored(cx));
    let output = output.map_err(unwritable::<K>("the result of"))?;
    Ok(TaskStateUpdate::default().output(output))
}

pub(crate) fn unreadable<K: Task>(what: &str) -> impl FnOnce(serde_json::Error) -> NodeError {
    move |error| NodeError::msg(format!("{what} `{}` cannot be read: {error}", K::NAME))
}

pub(crate) fn unwritable<K: Task>(what: &str) -> impl FnOnce(serde_json::Error) -> NodeError {
    move |error| NodeError::msg(format!("{what} `{}` cannot be stored: {error}", K::NAME))
}
