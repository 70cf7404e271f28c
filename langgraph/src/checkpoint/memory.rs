//! Threads in memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    Batch, CheckpointError, CheckpointId, Checkpointer, ListOptions, SaverFuture, Stored, ThreadKey,
};

/// Keeps threads in memory, as the values they are: nothing is serialized.
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
/// graph.run(()).thread("t").await?; // goes on from 2
/// assert_eq!(graph.get_state("t").await?.map(|snapshot| snapshot.values), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct MemorySaver {
    logs: Mutex<HashMap<ThreadKey, Log>>,
}

#[derive(Default)]
struct Log {
    /// Oldest first.
    order: Vec<CheckpointId>,
    records: HashMap<CheckpointId, Stored>,
}

impl MemorySaver {
    /// A saver without threads.
    pub fn new() -> Self {
        Self::default()
    }

    fn logs(&self) -> MutexGuard<'_, HashMap<ThreadKey, Log>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn put(&mut self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let head = self.order.last().copied();
        if head != batch.head {
            return Err(CheckpointError::Conflict {
                thread: key.thread.clone(),
                known: batch.head,
                head,
            });
        }
        for checkpoint in batch.checkpoints {
            self.order.push(checkpoint.id);
            let stored = Stored {
                tasks: Vec::new(),
                entries: Vec::new(),
                checkpoint,
            };
            self.records.insert(stored.checkpoint.id, stored);
        }
        for task in batch.tasks {
            if let Some(stored) = self.records.get_mut(&task.checkpoint) {
                stored.tasks.push(task);
            }
        }
        for entry in batch.entries {
            if let Some(stored) = self.records.get_mut(&entry.checkpoint) {
                stored.entries.push(entry);
            }
        }
        Ok(())
    }

    fn load(&self, id: Option<CheckpointId>) -> Vec<Stored> {
        let mut chain = Vec::new();
        let mut wanted = id.or_else(|| self.order.last().copied());
        while let Some(stored) = wanted.and_then(|id| self.records.get(&id)) {
            chain.push(stored.clone());
            wanted = match (&stored.checkpoint.snapshot, stored.checkpoint.base) {
                (None, Some(base)) => Some(base.id),
                _ => None,
            };
        }
        chain.reverse();
        chain
    }
}

impl Checkpointer for MemorySaver {
    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
        let result = {
            let mut logs = self.logs();
            if let Some(log) = logs.get_mut(key) {
                log.put(key, batch)
            } else {
                let mut log = Log::default();
                let result = log.put(key, batch);
                if result.is_ok() {
                    logs.insert(key.clone(), log);
                }
                result
            }
        };
        Box::pin(std::future::ready(result))
    }

    fn load<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
    ) -> SaverFuture<'a, Vec<Stored>> {
        let chain = self
            .logs()
            .get(key)
            .map(|log| log.load(id))
            .unwrap_or_default();
        Box::pin(std::future::ready(Ok(chain)))
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, Option<CheckpointId>> {
        let head = self
            .logs()
            .get(key)
            .and_then(|log| log.order.last().copied());
        Box::pin(std::future::ready(Ok(head)))
    }

    fn list<'a>(
        &'a self,
        key: &'a ThreadKey,
        options: ListOptions,
    ) -> SaverFuture<'a, Vec<CheckpointId>> {
        let ids = self.logs().get(key).map(|log| {
            let older = |id: &CheckpointId| options.before.is_none_or(|before| *id < before);
            let newest_first = log.order.iter().rev().copied().filter(older);
            newest_first
                .take(options.limit.unwrap_or(usize::MAX))
                .collect()
        });
        Box::pin(std::future::ready(Ok(ids.unwrap_or_default())))
    }

    fn delete_thread<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, ()> {
        self.logs().retain(|key, _| key.thread != thread);
        Box::pin(std::future::ready(Ok(())))
    }
}

impl fmt::Debug for MemorySaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySaver")
            .field("logs", &self.logs().len())
            .finish()
    }
}
