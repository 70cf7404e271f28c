//! The place of a task in the log of its thread.

use std::sync::Arc;

use super::log_head::{LogHead, Putting};
use langgraph_core::checkpoint::{
    Batch, CheckpointId, OnceRecord, RunStatus, TaskRecord, ThreadKey,
};
use langgraph_core::error::CheckpointError;
use langgraph_topology::NodeName;
use langgraph_topology::hash::Fnv;

/// The place of a task in its thread's log. The logs of its subgraphs are below it.
#[derive(Clone, Debug)]
pub(crate) struct TaskPosition {
    /// The head of the log.
    pub(crate) log_head: Arc<LogHead>,
    /// The checkpoint whose task it is.
    pub(crate) checkpoint: CheckpointId,
    /// The number of the task in the checkpoint.
    pub(crate) task: usize,
    /// The name of the node when the checkpoint was stored, if it has changed.
    pub(crate) stored_name: Option<NodeName>,
}

impl TaskPosition {
    /// Returns the key of the log for the task's `call`th subgraph. It is unique: another task, or
    /// the same node in another superstep, has another key.
    pub(crate) fn below(&self, node: &str, call: usize) -> ThreadKey {
        let node = self.stored_name.as_deref().unwrap_or(node);
        let key = &self.log_head.key;
        key.below(self.checkpoint, self.task, node, call)
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

    /// Returns true if the run [only rehearses](super::Checkpointer::is_dry_run) what is stored.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.log_head.saver.is_dry_run()
    }

    /// Checks that the task may begin work whose result is not stored.
    ///
    /// # Errors
    ///
    /// If the run only rehearses what is stored.
    pub(crate) fn check_new_work(&self, name: &str) -> Result<(), CheckpointError> {
        if self.is_dry_run() {
            return Err(CheckpointError::storage(format!(
                "`{name}` has no stored result, and a replay does not do such work"
            )));
        }
        Ok(())
    }

    /// Fails if the saver stores only for a holder of the thread's lease, who has lost it.
    pub(crate) async fn check_holder(&self) -> Result<(), CheckpointError> {
        let LogHead { saver, key, .. } = &*self.log_head;
        saver.check_holder(&key.thread).await
    }

    /// Stores a result of the task's `once`.
    pub(crate) fn keep_once(&self, record: OnceRecord) -> Putting<'static> {
        let batch = Batch {
            tasks: vec![TaskRecord::done_once(self.checkpoint, self.task, record)],
            status: RunStatus::Running,
            ..Batch::default()
        };
        self.log_head.put_done(batch)
    }

    /// Returns the key of the log of a subgraph under `PerThread`.
    pub(crate) fn per_thread(&self, key: &str) -> ThreadKey {
        ThreadKey::per_thread(&self.log_head.key.thread, key)
    }
}
