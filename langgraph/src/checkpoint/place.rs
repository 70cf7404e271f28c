//! Where a task stands in the log of its thread.

use std::sync::Arc;

use super::once_record::OnceRecord;
use super::{Batch, CheckpointError, CheckpointId, LogHead, TaskRecord, ThreadKey};
use langgraph_topology::NodeName;

/// Where a task stands in its thread's log: a graph inside the task keeps its own log below.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) log_head: Arc<LogHead>,
    pub(crate) checkpoint: CheckpointId,
    pub(crate) task: usize,
    /// The name that the node had when the checkpoint was stored, if it was another one.
    pub(crate) called_before: Option<NodeName>,
}

impl Place {
    /// The log of the graph that the task calls as its `call`th. Another task, or the same node in
    /// another superstep, never has the same.
    pub(crate) fn below(&self, node: &str, call: usize) -> ThreadKey {
        let node = self.called_before.as_deref().unwrap_or(node);
        below(&self.log_head.key, self.checkpoint, self.task, node, call)
    }

    /// Stores what the task has done once.
    pub(crate) async fn keep_once(&self, record: OnceRecord) -> Result<(), CheckpointError> {
        let batch = Batch {
            tasks: vec![TaskRecord {
                checkpoint: self.checkpoint,
                task: self.task,
                outcome: None,
                answers: Vec::new(),
                once: vec![record],
            }],
            running: true,
            ..Batch::default()
        };
        self.log_head.put(batch).await
    }

    /// The log that a graph inside keeps from call to call.
    pub(crate) fn kept(&self, key: &str) -> ThreadKey {
        kept(&self.log_head.key.thread, key)
    }

    /// The checkpoint in the name of a log below a task; from behind, since a node may have any
    /// name.
    pub(crate) fn checkpoint_of(name: &str) -> Option<CheckpointId> {
        name.rsplit(':').nth(2)?.parse().ok()
    }
}

/// The log of a graph that a task of the log `key` calls; see [`Place::below`].
pub(crate) fn below(
    key: &ThreadKey,
    checkpoint: CheckpointId,
    task: usize,
    node: &str,
    call: usize,
) -> ThreadKey {
    let mut key = key.clone();
    key.namespace
        .push(format!("{node}:{checkpoint}:{task}:{call}"));
    key
}

/// The log that a graph inside a thread keeps from call to call; see [`Place::kept`].
pub(crate) fn kept(thread: &str, key: &str) -> ThreadKey {
    ThreadKey {
        thread: thread.to_owned(),
        // No log below a task has such a name: those end in numbers.
        namespace: vec![format!("@{key}")],
    }
}
