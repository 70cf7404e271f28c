//! A task, as an executor gets it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::TaskOrder;
use crate::error::NodeError;
use crate::node::{Context, TaskReport};

/// The snapshot of a superstep, encoded.
#[derive(Debug)]
#[non_exhaustive]
pub struct SnapshotText {
    /// Names this text: no other snapshot has it.
    pub id: String,
    /// The state as JSON.
    pub text: String,
}

/// The text of a snapshot, once a task needs it.
pub(super) type Slot = OnceLock<Result<Arc<SnapshotText>, String>>;

/// A task for another process.
pub struct TaskCall<'a> {
    pub(super) cx: &'a Context,
    pub(super) item: Option<String>,
    pub(super) identity: String,
    pub(super) graph: &'a str,
    pub(super) fingerprint: u64,
    /// Shared by the tasks of the superstep while they run.
    pub(super) slot: Arc<Slot>,
    pub(super) encode: &'a (dyn Fn() -> Result<String, NodeError> + Sync),
}

impl TaskCall<'_> {
    /// Returns the name of the node.
    pub fn node(&self) -> &str {
        self.cx.node()
    }

    /// Returns the name of the graph.
    pub fn graph(&self) -> &str {
        self.graph
    }

    /// Returns the [fingerprint](crate::graph::Topology::fingerprint) of the graph. Only a worker with
    /// the same one runs the task.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the snapshot of the superstep. It is encoded once for all tasks that run at the same
    /// time.
    ///
    /// # Errors
    ///
    /// If the state cannot be written as JSON.
    pub fn snapshot(&self) -> Result<Arc<SnapshotText>, NodeError> {
        let encode = || {
            let text = (self.encode)().map_err(|error| error.to_string())?;
            let id = langgraph_core::new_id().to_string();
            Ok(Arc::new(SnapshotText { id, text }))
        };
        self.slot
            .get_or_init(encode)
            .clone()
            .map_err(NodeError::msg)
    }

    /// Returns the task as data, with what it has reported so far: a second worker gets the results of
    /// [`Context::once`] that the first one has sent.
    pub fn order(&self) -> TaskOrder {
        TaskOrder::new(self.cx, self.item.clone(), self.identity.clone())
    }

    /// Takes a report of the worker.
    ///
    /// # Errors
    ///
    /// If it cannot be stored, or if another worker has done the same work.
    ///
    /// # Cancel safety
    ///
    /// A record that is being stored is still stored.
    pub async fn report(&self, report: TaskReport) -> Result<(), NodeError> {
        match report {
            TaskReport::Heartbeat => self.cx.heartbeat(),
            TaskReport::Custom(value) => self.cx.emit(value).await?,
            TaskReport::Chunk(chunk) => self.cx.emit_chunk(*chunk).await,
            TaskReport::Once(record) => self.cx.keep_once(record).await?,
        }
        Ok(())
    }
}

impl fmt::Debug for TaskCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskCall").field(&self.node()).finish()
    }
}
