//! A saver that keeps bytes, in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Bytes, Checkpointer, Formats, MemorySaver, Saver, ThreadKey, forward_checkpointer,
};
use langgraph::error::CheckpointError;
use langgraph_sql::rows::{self, Row};

/// Encodes values on their way into `store`, which several of these may share.
#[derive(Debug)]
pub struct OverMemory {
    store: Arc<MemorySaver>,
    formats: Formats,
    rows: Mutex<Vec<Row>>,
}

impl OverMemory {
    /// Creates a saver that writes to `store` in the first of `formats`.
    pub fn new(store: &Arc<MemorySaver>, formats: Formats) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(store),
            formats,
            rows: Mutex::default(),
        })
    }

    /// Returns the rows that went through this saver.
    pub fn rows(&self) -> Vec<Row> {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Saver for OverMemory {
    type Stores = Bytes;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

#[async_trait]
impl Checkpointer for OverMemory {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let rows = rows::encode(batch.clone(), &self.formats)?;
        self.locked().extend(rows);
        self.store.put(key, batch).await
    }

    forward_checkpointer!(store: reads, abilities);
}
