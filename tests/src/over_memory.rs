//! A saver that keeps bytes, in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph::checkpoint::{
    Batch, Checkpointer, Formats, KeepsBytes, MemorySaver, SaverFuture, ThreadKey, forward,
};
use langgraph_sql::rows::{self, Row};

/// Values become bytes on their way into `store`, which several of these may share.
#[derive(Debug)]
pub struct OverMemory {
    store: Arc<MemorySaver>,
    formats: Formats,
    rows: Mutex<Vec<Row>>,
}

impl OverMemory {
    /// Writes to `store` in the first of `formats`.
    pub fn new(store: &Arc<MemorySaver>, formats: Formats) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(store),
            formats,
            rows: Mutex::default(),
        })
    }

    /// What went through this one.
    pub fn rows(&self) -> Vec<Row> {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeepsBytes for OverMemory {}

impl Checkpointer for OverMemory {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let rows = rows::encode(batch.clone(), &self.formats)?;
            self.locked().extend(rows);
            self.store.put(key, batch).await
        })
    }

    forward!(store: load, load_state, head, list, logs, threads, copy_thread, prune, delete_log);
    forward!(store: delete_thread, usage, lease, release);
}
