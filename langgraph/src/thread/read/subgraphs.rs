//! Reads a thread with the subgraphs of its tasks.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, Checkpointer, InnerSnapshot, Snapshot, ThreadKey};
use crate::error::AgentError;
use crate::graph::plan::Plan;
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::Persistence;
use crate::node::{AnyState, Argument, InnerLog, SnapshotQuery};
use crate::state::State;
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
    pub(in crate::thread) fn begins_with(&self, around: Option<AnyState>) -> Arc<S> {
        let shared = match self.persistence {
            // It has a state of its own.
            Persistence::PerThread(_) => None,
            _ => around.and_then(|state| state.downcast().ok()),
        };
        shared.unwrap_or_else(|| Arc::new(self.plan.initial.clone()))
    }
}

/// Returns the snapshot of a subgraph's log; `None` if the graph has not started.
pub(in crate::thread) async fn snapshot_inside<S: State>(
    graph: &CompiledStateGraph<S>,
    log: InnerLog<'_>,
    look: SnapshotQuery,
) -> Result<Option<InnerSnapshot>, AgentError> {
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
    let Some(loaded) = loaded else {
        return Ok(None);
    };
    let shown = ShownLog {
        saver: log.saver,
        key: &key,
        namespace: &look.namespace,
        saved: look.saved,
    };
    let snapshot = show(&graph.plan, loaded, shown).await?;
    Ok(Some(InnerSnapshot::new(snapshot)))
}

/// Returns a thread with its subgraphs, as saved or as it is now.
pub(in crate::thread) async fn show<S: State>(
    plan: &Plan<S>,
    mut loaded: Loaded<S>,
    shown: ShownLog<'_>,
) -> Result<Snapshot<S>, AgentError> {
    let checkpoint: CheckpointId = loaded.stored.checkpoint.id;
    for index in 0..loaded.tasks.len() {
        let Some(task) = loaded.tasks.get(index) else {
            break;
        };
        let node = plan.stored_node(&task.node);
        let Some(node) = node.and_then(|node| plan.node(node)) else {
            continue;
        };
        let Some(node) = node.step.graph() else {
            continue;
        };
        let state = match &task.argument {
            Some(Argument::State(state)) => state,
            _ => &loaded.state,
        };
        let around: AnyState = Arc::<S>::clone(state);
        // The log is named after the node's name at that time.
        let stored = loaded.stored.checkpoint.tasks.get(index);
        let stored = stored.map_or(&task.node, |spec| &spec.node);
        let mut namespace = shown.namespace.to_vec();
        namespace.push(Arc::clone(&task.node));
        let log = InnerLog {
            saver: shown.saver,
            // A node that is a graph makes one call.
            key: shown.key.below(checkpoint, index, stored, 0),
            around: node.shares_state.then_some(around),
        };
        let look = SnapshotQuery {
            namespace,
            saved: shown.saved,
        };
        let inside = node.graph.look(log, look).await?;
        if let Some(task) = loaded.tasks.get_mut(index) {
            task.inside = inside;
        }
    }
    Ok(if shown.saved {
        loaded.saved(shown.namespace)
    } else {
        loaded.live(plan, shown.namespace)
    })
}
