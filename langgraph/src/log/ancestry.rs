//! Facts about a checkpoint from its ancestors, or from itself if those are not stored.

use std::sync::Arc;

use langgraph_topology::{NodeName, START};

use super::box_future::BoxFuture;
use super::load::load_chain;
use super::same_join::is_same_join;
use langgraph_core::checkpoint::{Base, Checkpointer, Stored, ThreadKey};
use langgraph_core::error::CheckpointError;

/// Returns the nodes that last ran by an edge, before that checkpoint. START counts; sends and
/// updates from outside do not.
pub(crate) fn last_by_edge<'a>(
    saver: &'a dyn Checkpointer,
    key: &'a ThreadKey,
    from: &'a Stored,
) -> BoxFuture<'a, Result<Vec<NodeName>, CheckpointError>> {
    Box::pin(async move {
        if !from.checkpoint.ran.is_empty() {
            return Ok(from.checkpoint.ran.clone());
        }
        let mut base = from.checkpoint.base;
        while let Some(Base { id, with_tasks }) = base {
            let chain = load_chain(saver, key, Some(id)).await?;
            let records = chain.map(|chain| chain.records).unwrap_or_default();
            let Some(before) = records.last() else { break };
            if with_tasks {
                let by_edge = before
                    .checkpoint
                    .tasks
                    .iter()
                    .filter(|task| task.argument.is_none());
                let mut nodes: Vec<_> = by_edge.map(|task| Arc::clone(&task.node)).collect();
                nodes.dedup();
                if !nodes.is_empty() {
                    return Ok(nodes);
                }
            }
            if !before.checkpoint.ran.is_empty() {
                return Ok(before.checkpoint.ran.clone());
            }
            base = before.checkpoint.base;
        }
        Ok(vec![START.into()])
    })
}

/// Returns the nodes that are pending at that checkpoint because a join has started them.
pub(crate) fn joined<'a>(
    saver: &'a dyn Checkpointer,
    key: &'a ThreadKey,
    at: &'a Stored,
    joins: &'a [(Vec<NodeName>, NodeName)],
    now: &'a (dyn Fn(&NodeName) -> NodeName + Send + Sync),
) -> BoxFuture<'a, Result<Vec<NodeName>, CheckpointError>> {
    Box::pin(async move {
        let is_target = |node: &NodeName| joins.iter().any(|(_, target)| target == node);
        let by_edge = at.checkpoint.tasks.iter();
        let by_edge = by_edge.filter(|task| task.argument.is_none());
        let mut pending: Vec<NodeName> = by_edge.map(|task| now(&task.node)).collect();
        pending.retain(is_target);
        let mut found = Vec::new();
        let mut known: Vec<NodeName> = at.checkpoint.joined.iter().map(now).collect();
        let mut base = at.checkpoint.base;
        loop {
            found.extend(pending.extract_if(.., |node| known.contains(node)));
            let Some(Base { id, with_tasks }) = base.filter(|_| !pending.is_empty()) else {
                return Ok(found);
            };
            let chain = load_chain(saver, key, Some(id)).await?;
            let Some(before) = chain.and_then(|mut chain| chain.records.pop()) else {
                return Ok(found);
            };
            let before = before.checkpoint;
            let ran: Vec<NodeName> = before.tasks.iter().map(|task| now(&task.node)).collect();
            if with_tasks {
                let fired = |join: &(Vec<NodeName>, NodeName), node: &NodeName| {
                    let (sources, target) = join;
                    let mut records = before.joins.iter();
                    let record = records.find(|record| is_same_join(record, join, now));
                    let seen: Vec<NodeName> =
                        record.map_or_else(Vec::new, |join| join.seen.iter().map(now).collect());
                    target == node
                        && sources
                            .iter()
                            .all(|name| ran.contains(name) || seen.contains(name))
                };
                pending.retain(|node| joins.iter().any(|join| fired(join, node)));
                found.append(&mut pending);
                return Ok(found);
            }
            // It is a copy: the same nodes are pending as in the original.
            pending.retain(|node| ran.contains(node));
            known = before.joined.iter().map(now).collect();
            base = before.base;
        }
    })
}
