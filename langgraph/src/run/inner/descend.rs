//! The way from a thread to a graph inside it.

use std::sync::Arc;

use super::error::SubgraphError;
use super::path::SubgraphPath;
use crate::AgentError;
use crate::checkpoint::{CheckpointId, Checkpointer, Head, ThreadKey};
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::{AnyState, InnerGraph, InnerLog, Resources, Wanted, below, kept};
use crate::run::Persistence;
use crate::state::State;

/// A task that a graph is inside of.
pub(super) struct Around {
    /// The log that the task is in.
    pub(super) key: ThreadKey,
    pub(super) head: Head,
    pub(super) checkpoint: CheckpointId,
    pub(super) task: usize,
    /// The name that the node had when the checkpoint was stored.
    pub(super) node: NodeName,
    pub(super) joined_in: bool,
    /// The log of the graph inside the task, if it is kept per call.
    pub(super) below: ThreadKey,
    /// True when the run that goes on with the thread goes on with this task.
    pub(super) pending: bool,
}

/// The log of a graph at the end of a way.
pub(super) struct Found<'a> {
    pub(super) graph: &'a dyn InnerGraph,
    pub(super) key: ThreadKey,
    /// The state of the task around, where the graph begins with that.
    pub(super) around: Option<AnyState>,
}

/// The way from a thread to a graph inside it.
pub(super) struct Descent<'a> {
    /// The tasks on the way, outermost first; fewer where a graph has not been called.
    pub(super) around: Vec<Around>,
    pub(super) found: Option<Found<'a>>,
    /// What the graph and those around it were given; what is nearer wins.
    pub(super) resources: Resources,
    /// True when all the tasks on the way were found.
    whole: bool,
}

/// Finds out whether there is such a graph, over that state; the path gets the names that the nodes
/// have today.
pub(super) fn check<T: State>(
    root: &dyn InnerGraph,
    path: &mut SubgraphPath,
) -> Result<(), SubgraphError> {
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
    if !any.is::<CompiledStateGraph<T>>() {
        return Err(SubgraphError::WrongState {
            path: path.to_string(),
            expected: std::any::type_name::<T>(),
            found: graph.state(),
        });
    }
    for (index, name) in names.into_iter().enumerate() {
        path.rename(index, name);
    }
    Ok(())
}

/// Goes the way, from the thread's head or from that checkpoint of it.
pub(super) async fn descend<'a>(
    root: &'a dyn InnerGraph,
    saver: &Arc<dyn Checkpointer>,
    thread: &str,
    path: &SubgraphPath,
    at: Option<CheckpointId>,
) -> Result<Descent<'a>, AgentError> {
    let mut descent = Descent {
        around: Vec::new(),
        found: Some(Found {
            graph: root,
            key: ThreadKey::root(thread),
            around: None,
        }),
        resources: root.resources().clone(),
        whole: true,
    };
    let mut graph = root;
    let mut call = None;
    for (index, wanted) in path.nodes().iter().enumerate() {
        // The graph has been checked.
        let Some((_, Some(inside))) = graph.node(&wanted.node) else {
            descent.found = None;
            break;
        };
        graph = inside.graph;
        descent.resources = descent.resources.layered(graph.resources());
        let way = path.up_to(index);
        let task = match descent.found.take() {
            None => None,
            Some(found) => {
                let log = InnerLog {
                    saver: &**saver,
                    key: found.key.clone(),
                    around: found.around,
                };
                let wanted = Wanted {
                    node: wanted,
                    path: &way,
                    at: at.filter(|_| index == 0),
                };
                let task = found.graph.find(log, wanted).await?;
                task.map(|task| (found.key, task))
            }
        };
        let pending = descent.whole && descent.around.iter().all(|around| around.pending);
        let task = task.map(|(key, task)| {
            let below = below(&key, task.checkpoint, task.task, &task.node, 0);
            let around = Around {
                pending: pending && task.pending && task.call == call,
                key,
                head: task.head,
                checkpoint: task.checkpoint,
                task: task.task,
                node: task.node,
                joined_in: task.joined_in,
                below,
            };
            (around, task.state)
        });
        descent.whole &= task.is_some();
        let (key, around) = if let Persistence::PerThread(name) = inside.graph.persistence() {
            if at.is_some() {
                return Err(SubgraphError::NotOfACheckpoint {
                    thread: thread.to_owned(),
                    path: way,
                }
                .into());
            }
            let around = &task.as_ref().map(|(around, _)| &around.below);
            call = around.map(|below| Arc::from(below.namespace.join("/")));
            (Some(kept(thread, name)), None)
        } else {
            call = None;
            let below = task.as_ref().map(|(around, _)| around.below.clone());
            let state = task.as_ref().map(|(_, state)| Arc::clone(state));
            (below, state.filter(|_| inside.shares_state))
        };
        descent.around.extend(task.map(|(around, _)| around));
        descent.found = key.map(|key| Found { graph, key, around });
    }
    Ok(descent)
}

impl Descent<'_> {
    /// The task that the graph is inside of, if a run that goes on with the thread goes on with it.
    pub(super) fn pending(&self) -> Option<&Around> {
        let innermost = self.around.last().filter(|around| around.pending);
        innermost.filter(|_| self.whole)
    }

    /// The call of a graph that is kept, if it is pending.
    pub(super) fn pending_call(&self) -> Option<Arc<str>> {
        let around = self.pending()?;
        Some(around.below.namespace.join("/").into())
    }
}
