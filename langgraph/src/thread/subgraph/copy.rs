//! Subgraph logs of a checkpoint's copy.

use std::sync::Arc;

use crate::log::copy_of_branch;

use super::SubgraphPath;
use super::resolve::{OuterTask, Resolved};
use crate::checkpoint::{CheckpointId, Checkpointer, ThreadKey};
use crate::error::CheckpointError;
use crate::graph::NodeName;
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
        copies.push((key.clone(), copy_of_branch(&**saver, from, upto).await?));
    }
    for (key, batch) in copies {
        let put = saver.put(&key, batch).await;
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
