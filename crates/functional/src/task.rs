//! Tasks: the steps of an entrypoint.

use std::future::Future;
use std::sync::OnceLock;

use langgraph::graph::{ConfiguredNode, IntoNode};
use langgraph::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nothing::something;
use crate::stored::Stored;

/// A step of an entrypoint, whose result is kept; [`#[task]`](macro@crate::task) implements it.
pub trait Task: Sized + Send + Sync + 'static {
    /// The name, as threads, events and pictures show it.
    const NAME: &'static str;

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

    /// Does the work.
    fn run(
        arguments: Self::Arguments,
        cx: &Context,
    ) -> impl Future<Output = Result<Self::Output, NodeError>> + Send;

    /// Adds the options of the task.
    fn configure(node: ConfiguredNode<TaskState>) -> ConfiguredNode<TaskState> {
        node
    }

    /// Returns the task's graph, which is compiled at the first call.
    fn graph() -> &'static TaskGraph;
}

/// The state of a task, as threads and events show it.
#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskState {
    /// The name of the task.
    pub task: String,
    /// The arguments, a list.
    pub arguments: Value,
    /// The result, when the task has ended; a result that is nothing, such as `()`, is `None`.
    pub output: Option<Value>,
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
                .add_node(K::NAME, K::configure(perform::<K>.into_node()))
                .add_sequence(&[K::NAME]);
            graph.compile().map_err(|errors| errors.to_string())
        });
        let failed =
            |why: &String| NodeError::msg(format!("the task `{}` is not valid: {why}", K::NAME));
        compiled.as_ref().map_err(failed)
    }
}

async fn perform<K: Task>(state: &TaskState, cx: &Context) -> Result<TaskStateUpdate, NodeError> {
    let arguments = K::read(state.arguments.clone());
    let arguments = arguments.map_err(unreadable::<K>("the arguments of"))?;
    let output = K::run(arguments, cx).await?.to_value();
    let output = output.map_err(unwritable::<K>("the result of"))?;
    Ok(TaskStateUpdate::default().output(something(output)))
}

pub(crate) fn unreadable<K: Task>(what: &str) -> impl FnOnce(serde_json::Error) -> NodeError {
    move |error| NodeError::msg(format!("{what} `{}` cannot be read: {error}", K::NAME))
}

pub(crate) fn unwritable<K: Task>(what: &str) -> impl FnOnce(serde_json::Error) -> NodeError {
    move |error| NodeError::msg(format!("{what} `{}` cannot be stored: {error}", K::NAME))
}
