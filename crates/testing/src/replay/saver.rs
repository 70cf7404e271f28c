//! The saver of a dry run: a part of a thread, in memory.

use std::sync::Arc;

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Bytes, Checkpointer, Formats, Leases, MemorySaver, Saver, Stored, ThreadKey,
    forward_checkpointer,
};
use langgraph::error::CheckpointError;
use langgraph::run::CancelToken;

use super::log::{Log, Logs};

/// Holds a part of a thread, and stops the run after one superstep of one log.
pub(super) struct DryRunSaver {
    memory: MemorySaver,
    formats: Formats,
    /// The log whose superstep is replayed.
    key: ThreadKey,
    stop: CancelToken,
}

impl DryRunSaver {
    pub(super) fn new(key: ThreadKey, formats: Formats, stop: CancelToken) -> Self {
        Self {
            memory: MemorySaver::new(),
            formats,
            key,
            stop,
        }
    }

    pub(super) async fn fill(
        &self,
        logs: impl IntoIterator<Item = &Log>,
    ) -> Result<(), CheckpointError> {
        for log in logs {
            self.memory.put(&log.key, log.batch()).await?;
        }
        Ok(())
    }

    /// Returns the records of the replayed log, with those of the run.
    pub(super) async fn records(&self) -> Result<Vec<Stored>, CheckpointError> {
        Ok(super::log::lineage(&self.memory, &self.key)
            .await?
            .map_or_else(Vec::new, |chain| chain.records))
    }
}

#[async_trait]
impl Checkpointer for DryRunSaver {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let is_over = *key == self.key && !batch.checkpoints.is_empty();
        self.memory.put(key, batch).await?;
        if is_over {
            self.stop.drain();
        }
        Ok(())
    }

    fn is_dry_run(&self) -> bool {
        true
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.memory.leases()
    }

    forward_checkpointer!(memory: reads);
}

impl Saver for DryRunSaver {
    type Stores = Bytes;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

/// A thread in memory whose payloads are bytes.
pub(crate) struct ThreadSaver {
    memory: MemorySaver,
    formats: Formats,
}

impl ThreadSaver {
    /// Creates a saver that has these logs, in JSON.
    pub(crate) async fn new(logs: &Logs) -> Result<Self, CheckpointError> {
        let memory = MemorySaver::new();
        for log in logs.values() {
            memory.put(&log.key, log.batch()).await?;
        }
        Ok(Self {
            memory,
            formats: Formats::default(),
        })
    }
}

#[async_trait]
impl Checkpointer for ThreadSaver {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.memory.put(key, batch).await
    }

    forward_checkpointer!(memory: reads, abilities);
}
