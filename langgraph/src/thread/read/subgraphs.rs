//! Reads a thread with the subgraphs of its tasks.

use std::sync::Arc;

use crate::checkpoint::{Checkpointer, InnerSnapshot, Snapshot, ThreadKey};
use crate::error::AgentError;
use crate::graph::plan::Plan;
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::Persistence;
use crate::node::{AnyState, GraphNode, InnerLog, SnapshotQuery};
use crate::state::{State, TrackedState};
use crate::thread::load::{Read, load};
use crate::thread::loaded::Loaded;

/// A log to read.
pub(in crate::thread) struct ShownLog<'a> {
    pub(in crate::thread) saver: &'a dyn Checkpointer,
    pub(in crate::thread) key: &'a ThreadKey,
    pub(in crate::thread) namespace: &'a [NodeName],
    /// True to return the checkpoint as it was saved.
    pub(in crate::thread) saved: bool,
}

impl<S: State> CompiledStateGraph<S> {
    /// Returns the state before the first record of its log inside a task.
    pub(in crate::thread) fn begins_with(&self, around: Option<AnyState>) -> TrackedState<S> {
        let shared = match self.persistence {
            // It has a state of its own.
            Persistence::PerThread(_) => None,
            _ => around.and_then(|state| state.downcast().ok()),
        };
        shared.map_or_else(|| self.plan.unwritten_state(), Arc::unwrap_or_clone)
    }
}

/// The log of a subgraph, at its newest checkpoint.
pub(in crate::thread) struct LoadedInside<S: State> {
    pub(in crate::thread) key: ThreadKey,
    pub(in crate::thread) loaded: Loaded<S>,
    /// False for what a graph under `PerThread` remembers of earlier calls, before the call of this task.
    pub(in crate::thread) has_begun: bool,
}

/// Reads the log of a subgraph; `None` if there is none yet.
pub(in crate::thread) async fn load_inside<S: State>(
    graph: &CompiledStateGraph<S>,
    log: InnerLog<'_>,
) -> Result<Option<LoadedInside<S>>, AgentError> {
    let (key, call) = match &graph.persistence {
        Persistence::None => return Ok(None),
        Persistence::PerCall => (log.key, None),
        Persistence::PerThread(name) => {
            let call: Arc<str> = log.key.namespace.join("/").into();
            (ThreadKey::per_thread(&log.key.thread, name), Some(call))
        }
    };
    let loaded = load(&Read {
        plan: &graph.plan,
        codec: graph.codec.or_else(S::codec),
        initial: &graph.begins_with(log.around),
        saver: log.saver,
        key: &key,
        at: None,
        changes: false,
    })
    .await?;
    Ok(loaded.map(|loaded| LoadedInside {
        has_begun: loaded.stored.checkpoint.call == call,
        key,
        loaded,
    }))
}

/// Returns the snapshot of a subgraph's log; `None` if the graph has not started, and remembers nothing.
pub(in crate::thread) async fn snapshot_inside<S: State>(
    graph: &CompiledStateGraph<S>,
    log: InnerLog<'_>,
    look: SnapshotQuery,
) -> Result<Option<InnerSnapshot>, AgentError> {
    let saver = log.saver;
    let Some(mut inside) = load_inside(graph, log).await? else {
        return Ok(None);
    };
    if !inside.has_begun {
        // What it remembers now is not what it knew at an older checkpoint.
        if look.saved {
            return Ok(None);
        }
        inside.loaded.forget_call();
    }
    let shown = ShownLog {
        saver,
        key: &inside.key,
        namespace: &look.namespace,
        saved: look.saved,
    };
    let snapshot = show(&graph.plan, inside.loaded, shown).await?;
    Ok(Some(InnerSnapshot::new(snapshot)))
}

impl<S: State> Loaded<S> {
    /// Returns the graph of a task's node, if it is one, with the log of its call.
    pub(in crate::thread) fn subgraph<'a>(
        &self,
        plan: &'a Plan<S>,
        task: usize,
        saver: &'a dyn Checkpointer,
        key: &ThreadKey,
    ) -> Option<(GraphNode<'a>, InnerLog<'a>)> {
        let state = self.tasks.get(task)?;
        let node = plan.node(plan.stored_node(&state.node)?)?.step.graph()?;
        let around: AnyState = Arc::new(self.state_of(state));
        let checkpoint = &self.stored.checkpoint;
        // The log is named after the node's name at that time.
        let stored = checkpoint.tasks.get(task);
        let stored = stored.map_or(&state.node, |spec| &spec.node);
        let log = InnerLog {
            saver,
            // A node that is a graph makes one call.
            key: key.below(checkpoint.id, task, stored, 0),
            around: node.shares_state.then_some(around),
        };
        Some((node, log))
    }
}

/// Returns a thread with its subgraphs, as saved or as it is now.
pub(in crate::thread) async fn show<S: State>(
    plan: &Plan<S>,
    mut loaded: Loaded<S>,
    shown: ShownLog<'_>,
) -> Result<Snapshot<S>, AgentError> {
    for index in 0..loaded.tasks.len() {
        let Some((node, log)) = loaded.subgraph(plan, index, shown.saver, shown.key) else {
            continue;
        };
        let Some(task) = loaded.tasks.get_mut(index) else {
            continue;
        };
        let mut namespace = shown.namespace.to_vec();
        namespace.push(Arc::clone(&task.node));
        let look = SnapshotQuery {
            namespace,
            saved: shown.saved,
        };
        task.inside = node.graph.look(log, look).await?;
    }
    Ok(if shown.saved {
        loaded.saved(shown.namespace)
    } else {
        loaded.live(plan, shown.namespace)
    })
}
