//! Resolves the path from a thread to a subgraph.

use std::sync::Arc;

use super::SubgraphPath;
use crate::checkpoint::{CheckpointId, Checkpointer, Head, ThreadKey};
use crate::error::{AgentError, SubgraphError};
use crate::graph::{CompiledStateGraph, NodeName};
use crate::log::{BoxFuture, reissue};
use crate::node::Persistence;
use crate::node::{AnyState, FoundTask, InnerGraph, InnerLog, Resources, TaskQuery};
use crate::state::State;

/// A parent task of a graph.
pub(super) struct OuterTask {
    /// The log that contains the task.
    pub(super) key: ThreadKey,
    pub(super) head: Head,
    pub(super) checkpoint: CheckpointId,
    pub(super) task: usize,
    /// The name of the node when the checkpoint was stored.
    pub(super) node: NodeName,
    pub(super) joined_in: bool,
    /// The log of the graph inside the task, if it is stored per call.
    pub(super) below: ThreadKey,
    /// True if a run that resumes the thread resumes this task.
    pub(super) pending: bool,
}

/// The log of a graph at the end of a path.
pub(in crate::thread) struct FoundLog {
    pub(super) key: ThreadKey,
    /// The state of the parent task, if the graph begins with it.
    pub(super) around: Option<AnyState>,
}

/// The resolved path from a thread to a subgraph.
pub(in crate::thread) struct Resolved {
    /// The tasks on the path, outermost first; fewer if a graph has not been called.
    pub(super) outer: Vec<OuterTask>,
    pub(in crate::thread) found: Option<FoundLog>,
    /// The resources of the graph and its parents; the nearest wins.
    pub(super) resources: Resources,
    /// True if all tasks on the path were found.
    whole: bool,
}

/// Checks that the graph at the end of a path exists and has that state. Updates the path to the
/// nodes' current names.
pub(super) fn check<T: State>(
    root: &dyn InnerGraph,
    path: &mut SubgraphPath,
) -> Result<CompiledStateGraph<T>, SubgraphError> {
    let mut graph = root;
    let mut names = Vec::new();
    for (index, wanted) in path.nodes().iter().enumerate() {
        let Some((name, inside)) = graph.node(&wanted.node) else {
            return Err(SubgraphError::UnknownNode {
                path: path.up_to(index),
                node: Arc::clone(&wanted.node),
                graph: graph.name().to_owned(),
                known: graph.nodes().to_vec(),
            });
        };
        let Some(inside) = inside else {
            return Err(SubgraphError::NoGraph {
                path: path.up_to(index),
            });
        };
        if matches!(inside.graph.persistence(), Persistence::None) {
            return Err(SubgraphError::KeepsNothing {
                path: path.up_to(index),
            });
        }
        names.push(name);
        graph = inside.graph;
    }
    if names.is_empty() {
        return Err(SubgraphError::EmptyPath {
            graph: graph.name().to_owned(),
        });
    }
    let any: &dyn std::any::Any = graph;
    let Some(graph) = any.downcast_ref::<CompiledStateGraph<T>>() else {
        return Err(SubgraphError::WrongState {
            path: path.to_string(),
            expected: std::any::type_name::<T>(),
            found: graph.state(),
        });
    };
    let graph = graph.clone();
    for (index, name) in names.into_iter().enumerate() {
        path.rename(index, name);
    }
    Ok(graph)
}

/// Finds a task in a log of `graph`.
async fn find(
    graph: &dyn InnerGraph,
    saver: &dyn Checkpointer,
    found: FoundLog,
    wanted: TaskQuery<'_>,
) -> Result<Option<(ThreadKey, FoundTask)>, AgentError> {
    let log = InnerLog {
        saver,
        key: found.key.clone(),
        around: found.around,
    };
    let task = graph.find(log, wanted).await?;
    Ok(task.map(|task| (found.key, task)))
}

/// Follows the path, from the head of each log or from the checkpoint that the path names.
pub(super) fn resolve<'a>(
    root: &'a dyn InnerGraph,
    saver: &'a Arc<dyn Checkpointer>,
    thread: &'a str,
    path: &'a SubgraphPath,
) -> BoxFuture<'a, Result<Resolved, AgentError>> {
    Box::pin(async move {
        let mut resolved = Resolved {
            outer: Vec::new(),
            found: Some(FoundLog {
                key: ThreadKey::root(thread),
                around: None,
            }),
            resources: root.resources().clone(),
            whole: true,
        };
        let mut graph = root;
        let mut call = None;
        let mut at_checkpoint = false;
        for (index, wanted) in path.nodes().iter().enumerate() {
            // The graph has been checked.
            let Some((_, Some(inside))) = graph.node(&wanted.node) else {
                resolved.found = None;
                break;
            };
            let around = std::mem::replace(&mut graph, inside.graph);
            resolved.resources = resolved.resources.layered(graph.resources());
            at_checkpoint |= wanted.at.is_some();
            let up_to = path.up_to(index);
            let task = match resolved.found.take() {
                None => None,
                Some(found) => {
                    let wanted = TaskQuery {
                        node: &wanted.node,
                        task: wanted.task.as_ref(),
                        path: &up_to,
                        at: wanted.at,
                    };
                    find(around, &**saver, found, wanted).await?
                }
            };
            let pending = resolved.whole && resolved.outer.iter().all(|outer| outer.pending);
            let task = task.map(|(key, task)| {
                let pending = pending && task.pending && task.call == call;
                let state = Arc::clone(&task.state);
                (OuterTask::new(key, task, pending), state)
            });
            resolved.whole &= task.is_some();
            let (key, state) = if let Persistence::PerThread(name) = graph.persistence() {
                if at_checkpoint {
                    return Err(SubgraphError::NotOfACheckpoint {
                        thread: thread.to_owned(),
                        path: up_to,
                    }
                    .into());
                }
                let below = task.as_ref().map(|(outer, _)| &outer.below);
                call = below.map(|below| Arc::from(below.namespace.join("/")));
                (Some(ThreadKey::per_thread(thread, name)), None)
            } else {
                call = None;
                let below = task.as_ref().map(|(outer, _)| outer.below.clone());
                let state = task.as_ref().map(|(_, state)| Arc::clone(state));
                (below, state.filter(|_| inside.shares_state))
            };
            resolved.outer.extend(task.map(|(outer, _)| outer));
            resolved.found = key.map(|key| FoundLog { key, around: state });
        }
        Ok(resolved)
    })
}

impl OuterTask {
    fn new(key: ThreadKey, task: FoundTask, pending: bool) -> Self {
        Self {
            below: key.below(task.checkpoint, task.task, &task.node, 0),
            pending,
            key,
            head: task.head,
            checkpoint: task.checkpoint,
            task: task.task,
            node: task.node,
            joined_in: task.joined_in,
        }
    }
}

impl Resolved {
    /// Returns the parent task of the graph, if a run that resumes the thread resumes it.
    pub(super) fn pending(&self) -> Option<&OuterTask> {
        let innermost = self.outer.last().filter(|outer| outer.pending);
        innermost.filter(|_| self.whole)
    }

    /// Returns the call of a graph under `PerThread`, if it is pending.
    pub(in crate::thread) fn pending_call(&self) -> Option<Arc<str>> {
        let outer = self.pending()?;
        Some(outer.below.namespace.join("/").into())
    }

    /// Removes the interrupts of the changed graph from its parent tasks. These tasks run again,
    /// whether their other interrupts are answered or not.
    pub(in crate::thread) fn run_again<'a>(
        &'a self,
        saver: &'a Arc<dyn Checkpointer>,
    ) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async move {
            if self.pending().is_none() {
                return Ok(());
            }
            let mut gone = None;
            for outer in self.outer.iter().rev() {
                let task = (outer.checkpoint, outer.task);
                gone = Some(reissue(&**saver, &outer.key, outer.head, task, gone).await?);
            }
            Ok(())
        })
    }
}
