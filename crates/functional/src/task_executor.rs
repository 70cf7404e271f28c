//! The executor of tasks that run in other processes.

use std::any::TypeId;

use langgraph::prelude::*;

use crate::task::{Task, TaskState};

/// The executor of [tasks](crate::Tasks). Give it to an entrypoint as a
/// [resource](langgraph::CompiledStateGraph::resource); its runs, and those of graphs that contain it, have their tasks
/// there.
#[derive(Debug)]
pub struct TaskExecutor {
    graph: CompiledStateGraph<TaskState>,
    tasks: Vec<TypeId>,
}

impl TaskExecutor {
    /// Creates the executor of the tasks that the graph has.
    pub(crate) const fn new(graph: CompiledStateGraph<TaskState>, tasks: Vec<TypeId>) -> Self {
        Self { graph, tasks }
    }

    /// Returns the graph that runs the task.
    pub(crate) fn graph<K: Task>(&self) -> Result<&CompiledStateGraph<TaskState>, NodeError> {
        if self.tasks.contains(&TypeId::of::<K>()) {
            return Ok(&self.graph);
        }
        let name = K::NAME;
        Err(NodeError::msg(format!(
            "the task `{name}` may run anywhere, but the executor of the tasks does not have it: add it to the set with \
             `Tasks::task({name})`"
        )))
    }
}
