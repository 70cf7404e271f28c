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

/// Returns the key and the newest checkpoint of a subgraph's log; `None` if the graph has not started.
pub(in crate::thread) async fn load_inside<S: State>(
    graph: &CompiledStateGraph<S>,
    log: InnerLog<'_>,
) -> Result<Option<(ThreadKey, Loaded<S>)>, AgentError> {
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
    // State of another call does not belong to this task.
    let loaded = loaded.filter(|loaded| loaded.stored.checkpoint.call == call);
    Ok(loaded.map(|loaded| (key, loaded)))
}

/// Returns the snapshot of a subgraph's log; `None` if the graph has not started.
pub(in crate::thread) async fn snapshot_inside<S: State>(
    graph: &CompiledStateGraph<S>,
    log: InnerLog<'_>,
    look: SnapshotQuery,
) -> Result<Option<InnerSnapshot>, AgentError> {
    let saver = log.saver;
    let Some((key, loaded)) = load_inside(graph, log).await? else {
        return Ok(None);
    };
    let shown = ShownLog {
        saver,
        key: &key,
        namespace: &look.namespace,
        saved: look.saved,
    };
    let snapshot = show(&graph.plan, loaded, shown).await?;
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
