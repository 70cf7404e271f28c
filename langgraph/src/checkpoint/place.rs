//! The place of a task in the log of its thread.

use std::sync::Arc;

use super::OnceRecord;
use super::{Batch, CheckpointError, CheckpointId, LogHead, RunStatus, TaskRecord, ThreadKey};
use langgraph_topology::NodeName;
use langgraph_topology::hash::Fnv;

/// The place of a task in its thread's log. The logs of its subgraphs are below it.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) log_head: Arc<LogHead>,
    pub(crate) checkpoint: CheckpointId,
    pub(crate) task: usize,
    /// The name of the node when the checkpoint was stored, if it has changed.
    pub(crate) called_before: Option<NodeName>,
}

impl Place {
    /// Returns the key of the log for the task's `call`th subgraph. It is unique: another task, or
    /// the same node in another superstep, has another key.
    pub(crate) fn below(&self, node: &str, call: usize) -> ThreadKey {
        let node = self.called_before.as_deref().unwrap_or(node);
        below(&self.log_head.key, self.checkpoint, self.task, node, call)
    }

    /// Returns a text that no other task has, in any thread; a task that runs again keeps it.
    pub(crate) fn identity(&self) -> String {
        let ThreadKey { thread, namespace } = &self.log_head.key;
        // A copied thread has the same checkpoints.
        let mut log = Fnv::new();
        log.text(thread);
        for name in namespace {
            log.text(name);
        }
        format!("{:016x}:{}:{}", log.finish(), self.checkpoint, self.task)
    }

    /// Stores a result of the task's `once`.
    pub(crate) async fn keep_once(&self, record: OnceRecord) -> Result<(), CheckpointError> {
        let batch = Batch {
            tasks: vec![TaskRecord {
                checkpoint: self.checkpoint,
                task: self.task,
                outcome: None,
                answers: Vec::new(),
                once: vec![record],
            }],
            status: RunStatus::Running,
            ..Batch::default()
        };
        self.log_head.put(batch).await
    }

    /// Returns the key of the log of a subgraph under `PerThread`.
    pub(crate) fn kept(&self, key: &str) -> ThreadKey {
        kept(&self.log_head.key.thread, key)
    }

    /// Returns the checkpoint in the name of a log below a task. It parses from the end, because a
    /// node may have any name.
    pub(crate) fn checkpoint_of(name: &str) -> Option<CheckpointId> {
        name.rsplit(':').nth(2)?.parse().ok()
    }
}

/// Returns the key of the log for a subgraph that a task of the log `key` calls; see
/// [`Place::below`].
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

/// Returns the key of the log for a thread's subgraph under `PerThread`; see [`Place::kept`].
pub(crate) fn kept(thread: &str, key: &str) -> ThreadKey {
    ThreadKey {
        thread: thread.to_owned(),
        // No log below a task has such a name: those end in numbers.
        namespace: vec![format!("@{key}")],
    }
}
