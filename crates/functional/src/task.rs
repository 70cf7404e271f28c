//! Tasks: the steps of an entrypoint.

use std::future::Future;
use std::sync::OnceLock;

use langgraph::graph::{ConfiguredNode, IntoNode};
use langgraph::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A step of an entrypoint, whose result is kept; [`#[task]`](macro@crate::task) implements it.
pub trait Task: Sized + Send + Sync + 'static {
    /// The name, as threads, events and pictures show it.
    const NAME: &'static str;

    /// The arguments, a tuple.
    type Arguments: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The result.
    type Output: Serialize + DeserializeOwned + Send + Sync + 'static;

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
    /// The result, when the task has ended.
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
    let output = K::run(read::<K, _>("the arguments of", &state.arguments)?, cx).await?;
    let output = write::<K>("the result of", &output)?;
    Ok(TaskStateUpdate::default().output(Some(output)))
}

pub(crate) fn read<K: Task, T: DeserializeOwned>(
    what: &str,
    value: &Value,
) -> Result<T, NodeError> {
    T::deserialize(value)
        .map_err(|error| NodeError::msg(format!("{what} `{}` cannot be read: {error}", K::NAME)))
}

pub(crate) fn write<K: Task>(what: &str, value: &impl Serialize) -> Result<Value, NodeError> {
    let written = serde_json::to_value(value);
    written
        .map_err(|error| NodeError::msg(format!("{what} `{}` cannot be stored: {error}", K::NAME)))
}
