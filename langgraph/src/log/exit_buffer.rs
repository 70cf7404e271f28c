//! `Durability::Exit`: records stay in memory until the run ends.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use langgraph_core::Lock;

use super::box_future::BoxFuture;
use langgraph_core::checkpoint::{
    Batch, Chain, CheckpointId, Checkpointer, EntryRecord, Formats, Head, ListOptions, Owner,
    RunStatus, Stored, TaskRecord, ThreadKey, ThreadPosition, VisitStatePart,
};
use langgraph_core::error::CheckpointError;

/// A layer before a saver that holds the records of a run in memory. At the end of the run,
/// [`release`](Self::release) stores those that are still needed.
pub(crate) struct ExitBuffer {
    saver: Arc<dyn Checkpointer>,
    logs: Lock<BTreeMap<ThreadKey, BufferedLog>>,
}

/// The records of one log that are not stored yet.
#[derive(Default)]
struct BufferedLog {
    /// The stored head of the log.
    head: Option<Head>,
    /// The head including the held records.
    newest: Option<Head>,
    status: RunStatus,
    wake_at: Option<SystemTime>,
    owner: Option<Arc<Owner>>,
    /// New checkpoints, oldest first.
    order: Vec<CheckpointId>,
    records: HashMap<CheckpointId, Stored>,
    /// Additions to stored checkpoints.
    tasks: Vec<TaskRecord>,
    entries: Vec<EntryRecord>,
}

impl BufferedLog {
    fn put(&mut self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        if batch.head != self.newest {
            return Err(CheckpointError::Conflict {
                thread: key.thread.clone(),
                known: batch.head,
                head: self.newest,
            });
        }
        self.newest = batch.next_head();
        self.status = batch.status;
        self.wake_at = batch.wake_at;
        self.owner = batch.owner.or_else(|| self.owner.take());
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
            match self.records.get_mut(&task.checkpoint) {
                Some(stored) => stored.tasks.push(task),
                None => self.tasks.push(task),
            }
        }
        for entry in batch.entries {
            match self.records.get_mut(&entry.checkpoint) {
                Some(stored) => stored.entries.push(entry),
                None => self.entries.push(entry),
            }
        }
        Ok(())
    }

    /// Returns the new ancestors of a checkpoint, newest first, and the stored one before them.
    fn chain(&self, id: Option<CheckpointId>) -> (Vec<Stored>, Option<CheckpointId>) {
        let mut chain = Vec::new();
        let mut wanted = id.or(self.newest.map(|head| head.id));
        while let Some(stored) = wanted.and_then(|id| self.records.get(&id)) {
            chain.push(stored.clone());
            wanted = stored.checkpoint.base.map(|base| base.id);
        }
        (chain, wanted)
    }

    /// Adds the later additions to stored records.
    fn complete(&self, chain: &mut [Stored]) {
        for stored in chain {
            let id = stored.checkpoint.id;
            let tasks = self.tasks.iter().filter(|task| task.checkpoint == id);
            stored.tasks.extend(tasks.cloned());
            let entries = self.entries.iter().filter(|entry| entry.checkpoint == id);
            stored.entries.extend(entries.cloned());
        }
    }

    /// Returns everything as one batch.
    fn into_batch(mut self) -> Batch {
        let mut batch = Batch {
            head: self.head,
            checkpoints: Vec::new(),
            tasks: self.tasks,
            entries: self.entries,
            status: self.status,
            wake_at: self.wake_at,
            owner: self.owner,
        };
        for stored in self.order.iter().filter_map(|id| self.records.remove(id)) {
            batch.checkpoints.push(stored.checkpoint);
            batch.tasks.extend(stored.tasks);
            batch.entries.extend(stored.entries);
        }
        batch
    }
}

impl ExitBuffer {
    /// Buffers what is written to `saver`.
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> Self {
        Self {
            saver,
            logs: Lock::default(),
        }
    }

    /// Returns true if a checkpoint is not stored yet.
    pub(crate) fn holds(&self, key: &ThreadKey, id: CheckpointId) -> bool {
        self.logs
            .lock()
            .get(key)
            .is_some_and(|log| log.records.contains_key(&id))
    }

    /// Returns the nearest stored ancestor of `id`.
    pub(crate) fn stored_before(&self, key: &ThreadKey, id: CheckpointId) -> Option<CheckpointId> {
        let logs = self.logs.lock();
        let mut before = Some(id);
        while let Some(held) = before.and_then(|id| logs.get(key)?.records.get(&id)) {
            before = held.checkpoint.parent;
        }
        before
    }

    /// Stores the last checkpoint of the root's log: `folded`, or the additions to a stored
    /// checkpoint. Also stores the logs of its tasks' subgraphs, and the logs under `PerThread`.
    pub(crate) fn release<'a>(
        &'a self,
        root: &'a ThreadKey,
        last: CheckpointId,
        folded: Option<Stored>,
    ) -> BoxFuture<'a, Result<(), CheckpointError>> {
        Box::pin(async move {
            let mut logs = std::mem::take(&mut *self.logs.lock());
            let kept = logs.remove(root);
            let needed = logs.keys().filter(|key| is_needed(&logs, key, root, last));
            let needed: Vec<ThreadKey> = needed.cloned().collect();
            for key in needed {
                if let Some(log) = logs.remove(&key) {
                    self.saver.put(&key, log.into_batch()).await?;
                }
            }
            let Some(mut kept) = kept else { return Ok(()) };
            let mut batch = Batch {
                head: kept.head,
                status: kept.status,
                wake_at: kept.wake_at,
                owner: kept.owner.take(),
                ..Batch::default()
            };
            if let Some(stored) = folded {
                batch.checkpoints.push(stored.checkpoint);
                batch.tasks = stored.tasks;
                batch.entries = stored.entries;
            } else {
                kept.tasks.retain(|task| task.checkpoint == last);
                kept.entries.retain(|entry| entry.checkpoint == last);
                batch.tasks = kept.tasks;
                batch.entries = kept.entries;
            }
            self.saver.put(root, batch).await
        })
    }
}

/// Returns true if a subgraph's log is needed after the checkpoint `last` of `root`: the log is
/// under `PerThread`, or its task is pending.
fn is_needed(
    logs: &BTreeMap<ThreadKey, BufferedLog>,
    key: &ThreadKey,
    root: &ThreadKey,
    last: CheckpointId,
) -> bool {
    let depth = root.namespace.len();
    let Some((name, below)) = key.namespace.get(depth..).and_then(<[_]>::split_first) else {
        return false;
    };
    if let Some(checkpoint) = ThreadKey::checkpoint_of(name) {
        return checkpoint == last;
    }
    let Some(task) = below.first() else {
        return true;
    };
    let kept = ThreadKey {
        thread: key.thread.clone(),
        namespace: key.namespace.iter().take(depth + 1).cloned().collect(),
    };
    let end = logs.get(&kept).and_then(|log| log.newest);
    end.is_none_or(|end| ThreadKey::checkpoint_of(task) == Some(end.id))
}

#[async_trait]
impl Checkpointer for ExitBuffer {
    fn formats(&self) -> Option<&Formats> {
        self.saver.formats()
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let head = batch.head;
        let mut logs = self.logs.lock();
        let log = logs.entry(key.clone()).or_insert_with(|| BufferedLog {
            head,
            newest: head,
            ..BufferedLog::default()
        });
        log.put(key, batch)
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        let held = self
            .logs
            .lock()
            .get(key)
            .and_then(|log| Some((log.chain(id), log.newest?, log.owner.clone())));
        let Some(((mut newer, before), head, owner)) = held else {
            return self.saver.load(key, id).await;
        };
        let stored = match before {
            Some(base) => {
                let stored = self.saver.load(key, Some(base)).await?;
                let found = stored.filter(|stored| !stored.records.is_empty());
                // Pruned or deleted by another run, which is no damage.
                Some(found.ok_or_else(|| CheckpointError::BaseGone {
                    thread: key.thread.clone(),
                    base,
                })?)
            }
            None => None,
        };
        let (stored_owner, mut chain) = stored.map_or_else(
            || (None, Vec::new()),
            |stored| (stored.owner, stored.records),
        );
        if let Some(log) = self.logs.lock().get(key) {
            log.complete(&mut chain);
        }
        newer.reverse();
        chain.append(&mut newer);
        Ok(Some(Chain::new(head, owner.or(stored_owner), chain)))
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        if !self.logs.lock().contains_key(key) {
            return self.saver.load_state(key, id, visit).await;
        }
        let chain = self.load(key, id).await?;
        Ok(chain.map(|chain| chain.visit_parts(visit)))
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        let held = self.logs.lock().get(key).and_then(|log| log.newest);
        match held {
            Some(head) => Ok(Some(head)),
            None => self.saver.head(key).await,
        }
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.saver.list(key, options).await
    }
}

impl fmt::Debug for ExitBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExitBuffer")
            .field("logs", &self.logs.lock().len())
            .finish_non_exhaustive()
    }
}
