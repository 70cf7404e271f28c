//! The saver in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use super::log::Log;
use super::stored_log::StoredLog;
use super::thread::Thread;
use crate::checkpoint::{
    Administration, Batch, Chain, Checkpointer, Formats, GrowingLinks, Leases, ListOptions,
    ThreadKey, ThreadPosition, VisitStatePart,
};
use crate::checkpoint_id::CheckpointId;
use crate::error::CheckpointError;
use crate::head::Head;
use crate::lock::Lock;

/// Keeps threads in memory, as plain values: nothing is serialized.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph::checkpoint::MemorySaver;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
/// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
///
/// graph.run(1).thread("t").await?;
/// graph.run(()).thread("t").await?; // continues from 2
/// assert_eq!(graph.thread("t").state().await?.map(|snapshot| snapshot.values), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct MemorySaver {
    pub(super) threads: Lock<BTreeMap<String, Thread>>,
    /// The threads that are to be woken, by time.
    sleeping: Lock<BTreeSet<(SystemTime, String)>>,
}

impl MemorySaver {
    /// Creates a saver without threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that a thread is to be woken at another time. Called while the threads are locked.
    pub(super) fn wakes(&self, thread: &str, before: Option<SystemTime>, now: Option<SystemTime>) {
        if before == now {
            return;
        }
        let mut sleeping = self.sleeping.lock();
        if let Some(before) = before {
            sleeping.remove(&(before, thread.to_owned()));
        }
        if let Some(now) = now {
            sleeping.insert((now, thread.to_owned()));
        }
    }

    /// Returns the names of the threads that are to be woken at `time` or before.
    pub(super) fn due(&self, time: SystemTime) -> BTreeSet<String> {
        let sleeping = self.sleeping.lock();
        let due = sleeping.iter().take_while(|(at, _)| *at <= time);
        due.map(|(_, thread)| thread.clone()).collect()
    }

    fn store(&self, key: &ThreadKey, batch: &mut Batch) -> Result<(), CheckpointError> {
        let mut threads = self.threads.lock();
        if let Some(log) = stored_at(&mut threads, key) {
            let before = log.wake_at;
            log.put(key, batch)?;
            self.wakes(&key.thread, before, log.wake_at);
            return Ok(());
        }
        let mut log = StoredLog::new();
        log.put(key, batch)?;
        // A log without a checkpoint does not exist.
        if !log.order.is_empty() {
            self.wakes(&key.thread, None, log.wake_at);
            let thread = threads.entry(key.thread.clone()).or_default();
            thread.logs.insert(key.namespace.clone(), log.into());
        }
        Ok(())
    }

    /// Calls `look` with a log, if it exists.
    pub(super) fn at<T>(
        &self,
        key: &ThreadKey,
        look: impl FnOnce(&mut StoredLog) -> T,
    ) -> Option<T> {
        stored_at(&mut self.threads.lock(), key).map(look)
    }
}

pub(super) fn stored_at<'a>(
    threads: &'a mut BTreeMap<String, Thread>,
    key: &ThreadKey,
) -> Option<&'a mut StoredLog> {
    log_at(threads, key).map(Log::stored)
}

fn log_at<'a>(threads: &'a mut BTreeMap<String, Thread>, key: &ThreadKey) -> Option<&'a mut Log> {
    threads.get_mut(&key.thread)?.logs.get_mut(&key.namespace)
}

#[async_trait]
impl Checkpointer for MemorySaver {
    fn formats(&self) -> Option<&Formats> {
        None
    }

    async fn put(&self, key: &ThreadKey, mut batch: Batch) -> Result<(), CheckpointError> {
        self.store(key, &mut batch)
    }

    fn put_now(&self, key: &ThreadKey, batch: &mut Batch) -> Option<Result<(), CheckpointError>> {
        Some(self.store(key, batch))
    }

    fn share_links(
        &self,
        key: &ThreadKey,
        head: Head,
        links: Arc<dyn GrowingLinks>,
    ) -> Result<bool, CheckpointError> {
        let mut threads = self.threads.lock();
        let log = log_at(&mut threads, key);
        log.map_or(Ok(false), |log| log.share(key, head, links))
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        Ok(self.at(key, |log| log.load(id)).flatten())
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        let loaded = self.at(key, |log| log.load_state(id)).flatten();
        let position = loaded.map(|(parts, position)| {
            parts.into_iter().for_each(visit);
            position
        });
        Ok(position)
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        let threads = &mut self.threads.lock();
        Ok(log_at(threads, key).and_then(|log| log.head()))
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        Ok(self.at(key, |log| log.list(&options)).unwrap_or_default())
    }

    fn leases(&self) -> Option<&dyn Leases> {
        Some(self)
    }

    fn administration(&self) -> Option<&dyn Administration> {
        Some(self)
    }
}

impl fmt::Debug for MemorySaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySaver")
            .field("threads", &self.threads.lock().len())
            .finish_non_exhaustive()
    }
}
