//! Checks whether a graph can go on with a thread.

use std::sync::Arc;

use super::Thread;
use super::contained::contained;
use super::loaded::Loaded;
use super::offline::offline;
use super::read::subgraphs::{LoadedInside, load_inside};
use super::task_state::TaskState;
use crate::checkpoint::{CheckNote, Checkpointer, ThreadKey};
use crate::error::{AgentError, CheckpointError, FormatError};
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::{Argument, InnerLog, Resources, Shared};
use crate::state::{State, TrackedState};

impl<S: State> Thread<S> {
    /// Checks whether a run of this graph can go on from here, without starting one: that the state
    /// can be read, that the graph has the nodes that are pending, and that pending workers take the
    /// items that are stored for them; also in subgraphs that are nodes. A thread that does not exist
    /// can start.
    ///
    /// Returns what the run will read otherwise than the graph that wrote the thread.
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state);
    /// [`CheckpointError::UnknownNode`];
    /// [`CheckpointError::Unreadable`] for an item.
    pub async fn check(&self) -> Result<Vec<CheckNote>, AgentError> {
        contained(self.checked()).await
    }

    async fn checked(&self) -> Result<Vec<CheckNote>, AgentError> {
        let Some(log) = self.open().await? else {
            return Ok(Vec::new());
        };
        let Some(loaded) = log.read(self.at).await? else {
            return Ok(Vec::new());
        };
        let checked = CheckedLog {
            saver: &*log.saver,
            key: &log.key,
            path: &log.namespace,
            initial: &log.initial,
        };
        check(&log.graph, loaded, checked).await
    }
}

/// A log to check.
struct CheckedLog<'a, S: State> {
    saver: &'a dyn Checkpointer,
    key: &'a ThreadKey,
    /// The path of nodes to the graph, outermost first.
    path: &'a [NodeName],
    initial: &'a TrackedState<S>,
}

/// Checks a subgraph of a task, if it has started.
pub(super) async fn check_inside<S: State>(
    graph: &CompiledStateGraph<S>,
    log: InnerLog<'_>,
    path: Vec<NodeName>,
) -> Result<Option<Vec<CheckNote>>, AgentError> {
    let saver = log.saver;
    let inside = load_inside(graph, log).await?;
    // State of another call does not belong to this task.
    let Some(LoadedInside { key, loaded, .. }) = inside.filter(|inside| inside.has_begun) else {
        return Ok(None);
    };
    let checked = CheckedLog {
        saver,
        key: &key,
        path: &path,
        initial: &graph.plan.unwritten_state(),
    };
    check(graph, loaded, checked).await.map(Some)
}

async fn check<S: State>(
    graph: &CompiledStateGraph<S>,
    loaded: Loaded<S>,
    log: CheckedLog<'_, S>,
) -> Result<Vec<CheckNote>, AgentError> {
    let plan = &graph.plan;
    let mut notes = Vec::new();
    if let Some(owner) = &loaded.owner {
        notes = CheckNote::of_fields(&plan.initial, &owner.state, log.path);
    }
    for (index, task) in loaded.tasks.iter().enumerate() {
        if task.is_finished() {
            continue;
        }
        check_item(graph, task, &log)?;
        if let Some((node, inner)) = loaded.subgraph(plan, index, log.saver, log.key) {
            let mut path = log.path.to_vec();
            path.push(Arc::clone(&task.node));
            notes.extend(node.graph.check(inner, path).await?.into_iter().flatten());
        }
    }
    let initial = log.initial.clone();
    let thread = &log.key.thread;
    let shared = Shared::of_thread(thread);
    let mut engine = offline(graph, shared, log.path, Resources::default(), initial);
    loaded.restore(&mut engine, thread, None)?;
    Ok(notes)
}

/// Fails if the node of a task cannot take the item that is stored for it.
fn check_item<S: State>(
    graph: &CompiledStateGraph<S>,
    task: &TaskState<S>,
    log: &CheckedLog<'_, S>,
) -> Result<(), CheckpointError> {
    let Some(Argument::Item(item)) = &task.argument else {
        return Ok(());
    };
    let node = graph.plan.stored_node(&task.node);
    let Some(node) = node.and_then(|node| graph.plan.node(node)) else {
        return Ok(());
    };
    let name = [log.path, &[Arc::clone(&task.node)]].concat().join("/");
    let checked = node.step.check_item(&**item, &name);
    checked.map_err(|error| CheckpointError::Unreadable {
        thread: log.key.thread.clone(),
        source: FormatError::new(error.to_string()),
    })
}
