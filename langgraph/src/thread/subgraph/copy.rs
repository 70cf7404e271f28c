//! Subgraph logs of a checkpoint's copy.

use std::collections::VecDeque;
use std::sync::Arc;

use super::path::SubgraphPath;
use super::resolve::{OuterTask, Resolved};
use crate::checkpoint::{
    Batch, CheckpointError, CheckpointId, Checkpointer, Owner, Stored, TaskOutcome, ThreadKey,
};
use crate::graph::{NodeName, START};
use crate::node::Fork;

/// The logs below a checkpoint's copy, before the copy itself exists.
pub(super) struct CopiedLogs {
    pub(super) fork: Fork,
    first: Vec<ThreadKey>,
    last: ThreadKey,
}

impl CopiedLogs {
    /// Returns the log of the graph at the end of the path.
    pub(super) fn key(&self) -> &ThreadKey {
        &self.last
    }

    /// Removes the logs.
    pub(super) async fn remove(self, saver: &Arc<dyn Checkpointer>) {
        delete(&**saver, self.first.iter().chain([&self.last])).await;
    }
}

/// Deletes the logs of an abandoned copy. A log that cannot be deleted does no harm.
async fn delete(saver: &dyn Checkpointer, logs: impl Iterator<Item = &ThreadKey>) {
    let Some(administration) = saver.administration() else {
        return;
    };
    for key in logs {
        let _ = administration.delete_log(key).await;
    }
}

/// Copies the logs on a path, for a copy of the thread's checkpoint: each log up to the checkpoint
/// on the path, and the last one up to `at`. Returns `None` if the copy would not have the task.
pub(super) async fn copy_logs(
    saver: &Arc<dyn Checkpointer>,
    way: &Resolved,
    path: &SubgraphPath,
    last: &ThreadKey,
    at: Option<CheckpointId>,
) -> Result<Option<CopiedLogs>, CheckpointError> {
    let (Some(root), Some(first)) = (way.outer.first(), path.nodes().first()) else {
        return Ok(None);
    };
    // A log under `PerThread` does not belong to any copy.
    let per_call = |pair: &[OuterTask]| matches!(pair, [outer, inner] if inner.key == outer.below);
    if root.joined_in || !way.outer.windows(2).all(per_call) {
        return Ok(None);
    }
    let fork = Fork {
        at: root.checkpoint,
        id: CheckpointId::after(Some(root.head.id)),
        head: root.head,
    };
    // In the copy the node has its current name.
    let mut name: &NodeName = &first.node;
    let (mut key, mut checkpoint) = (root.key.clone(), fork.id);
    let mut copied = Vec::new();
    let mut copies = Vec::new();
    for (index, outer) in way.outer.iter().enumerate() {
        key = key.below(checkpoint, outer.task, name, 0);
        let (from, upto) = match way.outer.get(index + 1) {
            Some(next) => {
                (checkpoint, name) = (next.checkpoint, &next.node);
                (&next.key, Some(next.checkpoint))
            }
            None => (last, at),
        };
        copies.push((key.clone(), lineage(&**saver, from, upto).await?));
    }
    for (key, records) in copies {
        let put = saver.put(&key, copy_of(records)).await;
        copied.push(key);
        if let Err(error) = put {
            delete(&**saver, copied.iter()).await;
            return Err(error);
        }
    }
    Ok(copied.pop().map(|last| CopiedLogs {
        fork,
        first: copied,
        last,
    }))
}

/// What a log belongs to, and records of it, oldest first.
type Lineage = (Option<Arc<Owner>>, VecDeque<Stored>);

/// Returns a checkpoint (`None` means the head) and its ancestors, to the beginning of the log.
async fn lineage(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    at: Option<CheckpointId>,
) -> Result<Lineage, CheckpointError> {
    let (mut lineage, mut owner) = (VecDeque::new(), None);
    let mut next = at;
    loop {
        let chain = saver.load(key, next).await?;
        let Some(chain) = chain.filter(|chain| !chain.records.is_empty()) else {
            break;
        };
        owner = chain.owner;
        for stored in chain.records.into_iter().rev() {
            next = stored.checkpoint.base.map(|base| base.id);
            lineage.push_front(stored);
        }
        if next.is_none() {
            break;
        }
    }
    match at {
        Some(id) if lineage.is_empty() => {
            let thread = key.thread.clone();
            Err(CheckpointError::UnknownCheckpoint { thread, id })
        }
        // A pruned log ends here.
        _ => Ok((owner, lineage)),
    }
}

/// Returns the records of a new log; all tasks of the last checkpoint run again.
fn copy_of((owner, records): Lineage) -> Batch {
    let mut batch = Batch {
        owner,
        ..Batch::default()
    };
    let last = records.len().saturating_sub(1);
    for (index, stored) in records.into_iter().enumerate() {
        let starts = |task: usize| {
            let spec = stored.checkpoint.tasks.get(task);
            spec.is_some_and(|spec| &*spec.node == START)
        };
        // START has no code: it reuses its input.
        let stays = |task: usize, outcome: Option<&TaskOutcome>| {
            index < last || (starts(task) && matches!(outcome, Some(TaskOutcome::Finished(_))))
        };
        let tasks = stored.tasks.iter();
        let tasks = tasks.filter(|record| stays(record.task, record.outcome.as_ref()));
        batch.tasks.extend(tasks.cloned());
        batch.entries.extend(stored.entries);
        batch.checkpoints.push(stored.checkpoint);
    }
    batch
}
