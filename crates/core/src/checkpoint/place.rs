//! The place of a task in the log of its thread.

use std::sync::Arc;

use super::OnceRecord;
use super::{Batch, LogHead, RunStatus, TaskRecord, ThreadKey};
use crate::checkpoint_id::CheckpointId;
use crate::error::CheckpointError;
use langgraph_topology::NodeName;
use langgraph_topology::hash::Fnv;

/// The place of a task in its thread's log. The logs of its subgraphs are below it.
#[derive(Clone, Debug)]
pub struct Place {
    /// The head of the log.
    pub log_head: Arc<LogHead>,
    /// The checkpoint whose task it is.
    pub checkpoint: CheckpointId,
    /// The number of the task in the checkpoint.
    pub task: usize,
    /// The name of the node when the checkpoint was stored, if it has changed.
    pub called_before: Option<NodeName>,
}

impl Place {
    /// Returns the key of the log for the task's `call`th subgraph. It is unique: another task, or
    /// the same node in another superstep, has another key.
    pub fn below(&self, node: &str, call: usize) -> ThreadKey {
        let node = self.called_before.as_deref().unwrap_or(node);
        let key = &self.log_head.key;
        key.below(self.checkpoint, self.task, node, call)
    }

    /// Returns a text that no other task has, in any thread; a task that runs again keeps it.
    pub fn identity(&self) -> String {
        let ThreadKey { thread, namespace } = &self.log_head.key;
        // A copied thread has the same checkpoints.
        let mut log = Fnv::new();
        log.text(thread);
        for name in namespace {
            log.text(name);
        }
        format!("{:016x}:{}:{}", log.finish(), self.checkpoint, self.task)
    }

    /// Checks that the task may begin work whose result is not stored.
    ///
    /// # Errors
    ///
    /// If the run [only rehearses](super::Checkpointer::is_rehearsal) what is stored.
    pub fn check_new_work(&self, name: &str) -> Result<(), CheckpointError> {
        if self.log_head.saver.is_rehearsal() {
            return Err(CheckpointError::storage(format!(
                "`{name}` has no stored result, and a replay does not do such work"
            )));
        }
        Ok(())
    }

    /// Stores a result of the task's `once`.
    pub async fn keep_once(&self, record: OnceRecord) -> Result<(), CheckpointError> {
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
    pub fn per_thread(&self, key: &str) -> ThreadKey {
        ThreadKey::per_thread(&self.log_head.key.thread, key)
    }
}
