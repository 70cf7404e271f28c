//! What a change from outside keeps of the pending tasks.

use super::loaded::Loaded;
use crate::error::AgentError;
use crate::graph::plan::Plan;
use crate::log::joined;
use crate::node::NodeId;
use crate::record::Log;
use crate::state::State;

/// Drops pending tasks, and deferred nodes that the graph no longer has, so that a thread of a
/// changed graph can be moved on.
pub(super) fn drop_pending<S: State>(loaded: &mut Option<Loaded<S>>, plan: &Plan<S>) {
    if let Some(loaded) = loaded {
        loaded.tasks.clear();
        let deferred = &mut loaded.stored.checkpoint.deferred;
        deferred.retain(|node| plan.stored_node(node).is_some());
    }
}

/// Drops pending tasks, except for nodes that a join has started or that were deferred: these stay
/// pending until they have run.
pub(super) async fn keep_arrived<S: State>(
    log: &Log,
    loaded: &mut Option<Loaded<S>>,
    plan: &Plan<S>,
) -> Result<Vec<NodeId>, AgentError> {
    let mut arrived = Vec::new();
    let mut tasks = Vec::new();
    if let Some(loaded) = loaded {
        let joined = joined(
            &*log.saver,
            &log.key,
            &loaded.stored,
            &plan.topology_joins,
            &|name| plan.renamed(name),
        )
        .await?;
        for mut task in std::mem::take(&mut loaded.tasks) {
            let by_edge = !task.joined_in && task.argument.is_none();
            let Some(node) = plan.stored_node(&task.node).filter(|_| by_edge) else {
                continue;
            };
            if plan.defers(node) || joined.contains(&task.node) {
                task.forget();
                arrived.push(node);
                tasks.push(task);
            }
        }
    }
    drop_pending(loaded, plan);
    if let Some(loaded) = loaded {
        loaded.tasks = tasks;
    }
    Ok(arrived)
}
