//! Facts about a checkpoint from its ancestors, or from itself if those are not stored.

use std::sync::Arc;

use langgraph_topology::{NodeName, START};

use super::box_future::BoxFuture;
use super::load::load_chain;
use super::same_join::is_same_join;
use langgraph_core::checkpoint::{Base, Checkpointer, Source, Stored, TaskSpec, ThreadKey};
use langgraph_core::error::CheckpointError;

/// Returns the nodes that last ran by an edge, before that checkpoint. START counts; sends and updates from outside
/// do not. A task that a new input or a clear has dropped counts as run, and of several tasks those count that were
/// reached last: the others were pending before.
pub(crate) fn last_by_edge<'a>(
    saver: &'a dyn Checkpointer,
    key: &'a ThreadKey,
    from: &'a Stored,
) -> BoxFuture<'a, Result<Vec<NodeName>, CheckpointError>> {
    Box::pin(async move {
        let mut before = None;
        loop {
            let at = before.as_ref().unwrap_or(from);
            if !at.checkpoint.ran.is_empty() {
                return Ok(at.checkpoint.ran.clone());
            }
            let Some((base, with_tasks)) = base_of(saver, key, at).await? else {
                return Ok(vec![START.into()]);
            };
            let mut ran = by_edge(&base);
            if !with_tasks {
                let drops = at.checkpoint.source == Source::Input;
                let pending = by_edge(at);
                ran.retain(|node| drops && !pending.contains(node));
            }
            if !ran.is_empty() {
                return reached_last(saver, key, base, ran).await;
            }
            before = Some(base);
        }
    })
}

/// Returns the nodes of the tasks that are pending at a checkpoint, and that were reached last by an edge.
pub(crate) fn pending_last<'a>(
    saver: &'a dyn Checkpointer,
    key: &'a ThreadKey,
    at: &'a Stored,
) -> BoxFuture<'a, Result<Vec<NodeName>, CheckpointError>> {
    Box::pin(async move { reached_last(saver, key, at.clone(), by_edge(at)).await })
}

/// Keeps those of the pending `nodes` of a checkpoint that were reached last.
async fn reached_last(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    mut at: Stored,
    nodes: Vec<NodeName>,
) -> Result<Vec<NodeName>, CheckpointError> {
    loop {
        let mut gotos = at.entries.iter().rev();
        let by_goto = gotos.find_map(|entry| {
            let mut added = names_by_edge(&entry.tasks);
            added.retain(|node| nodes.contains(node));
            (!added.is_empty()).then_some(added)
        });
        if let Some(added) = by_goto {
            return Ok(added);
        }
        if nodes.len() < 2 {
            return Ok(nodes);
        }
        let Some((base, false)) = base_of(saver, key, &at).await? else {
            return Ok(nodes);
        };
        let is_input = at.checkpoint.source == Source::Input;
        let before = by_edge(&base);
        let is_new = |node: &&NodeName| !before.contains(node) || is_input && ***node == *START;
        let new: Vec<NodeName> = nodes.iter().filter(is_new).cloned().collect();
        if !new.is_empty() {
            return Ok(new);
        }
        at = base;
    }
}

/// Returns the checkpoint on whose state that one is based, and true if the tasks of it have run.
async fn base_of(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    at: &Stored,
) -> Result<Option<(Stored, bool)>, CheckpointError> {
    let Some(Base { id, with_tasks }) = at.checkpoint.base else {
        return Ok(None);
    };
    let chain = load_chain(saver, key, Some(id)).await?;
    let base = chain.and_then(|mut chain| chain.records.pop());
    Ok(base.map(|base| (base, with_tasks)))
}

/// Returns the nodes of the tasks that are pending by an edge. An input that waits behind them is none.
fn by_edge(at: &Stored) -> Vec<NodeName> {
    let (own, added) = (at.checkpoint.tasks.iter(), added_tasks(at));
    names_by_edge(own.chain(added.filter(|task| &*task.node != START)))
}

/// Returns the tasks that run beside those of the checkpoint.
fn added_tasks(at: &Stored) -> impl Iterator<Item = &TaskSpec> {
    at.entries.iter().flat_map(|entry| &entry.tasks)
}

fn names_by_edge<'a>(tasks: impl IntoIterator<Item = &'a TaskSpec>) -> Vec<NodeName> {
    let by_edge = tasks.into_iter().filter(|task| task.argument.is_none());
    let mut names: Vec<NodeName> = Vec::new();
    for task in by_edge {
        if !names.contains(&task.node) {
            names.push(Arc::clone(&task.node));
        }
    }
    names
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
        let mut behind = None;
        loop {
            found.extend(pending.extract_if(.., |node| known.contains(node)));
            if pending.is_empty() {
                return Ok(found);
            }
            let at = behind.as_ref().unwrap_or(at);
            let Some((base, with_tasks)) = base_of(saver, key, at).await? else {
                return Ok(found);
            };
            let before = &base.checkpoint;
            let tasks = before.tasks.iter().chain(added_tasks(&base));
            let ran: Vec<NodeName> = tasks.map(|task| now(&task.node)).collect();
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
            behind = Some(base);
        }
    })
}
