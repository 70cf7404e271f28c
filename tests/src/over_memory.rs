//! A saver that keeps bytes, in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use langgraph::checkpoint::{
    Batch, Chain, CheckpointId, Checkpointer, Formats, Head, KeepsBytes, ListOptions, MemorySaver,
    Prune, Row, SaverFuture, ThreadFilter, ThreadInfo, ThreadKey, Usage,
};

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
            let rows = batch.clone().into_rows(&self.formats)?;
            self.locked().extend(rows);
            self.store.put(key, batch).await
        })
    }

    fn load<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
    ) -> SaverFuture<'a, Option<Chain>> {
        self.store.load(key, id)
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, Option<Head>> {
        self.store.head(key)
    }

    fn list<'a>(
        &'a self,
        key: &'a ThreadKey,
        options: ListOptions,
    ) -> SaverFuture<'a, Vec<CheckpointId>> {
        self.store.list(key, options)
    }

    fn logs<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Vec<ThreadKey>> {
        self.store.logs(thread)
    }

    fn threads(&self, filter: ThreadFilter) -> SaverFuture<'_, Vec<ThreadInfo>> {
        self.store.threads(filter)
    }

    fn copy_thread<'a>(&'a self, from: &'a str, to: &'a str) -> SaverFuture<'a, ()> {
        self.store.copy_thread(from, to)
    }

    fn prune<'a>(&'a self, key: &'a ThreadKey, prune: Prune) -> SaverFuture<'a, ()> {
        self.store.prune(key, prune)
    }

    fn delete_log<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, ()> {
        self.store.delete_log(key)
    }

    fn delete_thread<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, ()> {
        self.store.delete_thread(thread)
    }

    fn usage<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Usage> {
        self.store.usage(thread)
    }

    fn lease<'a>(
        &'a self,
        thread: &'a str,
        holder: &'a str,
        term: Duration,
    ) -> SaverFuture<'a, bool> {
        self.store.lease(thread, holder, term)
    }

    fn release<'a>(&'a self, thread: &'a str, holder: &'a str) -> SaverFuture<'a, ()> {
        self.store.release(thread, holder)
    }
}
