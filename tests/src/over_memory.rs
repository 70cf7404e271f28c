//! A saver that keeps bytes, in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph::async_trait;
use langgraph::checkpoint::{
    Administration, Batch, Bytes, Chain, CheckpointId, Checkpointer, Formats, Head, Leases,
    ListOptions, MemorySaver, Saver, ThreadKey, ThreadPosition, VisitStatePart,
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

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.store.load(key, id).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.store.load_state(key, id, visit).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.store.head(key).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.store.list(key, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.store.leases()
    }

    fn administration(&self) -> Option<&dyn Administration> {
        self.store.administration()
    }
}
