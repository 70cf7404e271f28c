//! Records that are held back until the end of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Place;
use super::{
    Batch, Chain, CheckpointError, CheckpointId, Checkpointer, EntryRecord, Head, SaverFuture,
    SeePast, Standing, Stored, TaskRecord, ThreadKey, forward,
};

/// Stands before a saver and passes on only what matters when the run has ended.
pub(crate) struct Held {
    saver: Arc<dyn Checkpointer>,
    logs: Mutex<HashMap<ThreadKey, HeldLog>>,
}

/// What is held back of one log.
#[derive(Default)]
struct HeldLog {
    /// The head of the log that is stored.
    head: Option<Head>,
    /// The head with what is held back.
    held: Option<Head>,
    running: bool,
    /// New checkpoints, oldest first.
    order: Vec<CheckpointId>,
    records: HashMap<CheckpointId, Stored>,
    /// What was added to checkpoints that are stored already.
    tasks: Vec<TaskRecord>,
    entries: Vec<EntryRecord>,
}

impl HeldLog {
    fn put(&mut self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        if batch.head != self.held {
            return Err(CheckpointError::Conflict {
                thread: key.thread.clone(),
                known: batch.head,
                head: self.held,
            });
        }
        self.held = batch.next_head();
        self.running = batch.running;
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

    /// The new records behind a checkpoint, newest first, and the stored one before them.
    fn chain(&self, id: Option<CheckpointId>) -> (Vec<Stored>, Option<CheckpointId>) {
        let mut chain = Vec::new();
        let mut wanted = id.or(self.held.map(|head| head.id));
        while let Some(stored) = wanted.and_then(|id| self.records.get(&id)) {
            chain.push(stored.clone());
            wanted = stored.checkpoint.base.map(|base| base.id);
        }
        (chain, wanted)
    }

    /// Adds to stored records what came later.
    fn complete(&self, chain: &mut [Stored]) {
        for stored in chain {
            let id = stored.checkpoint.id;
            let tasks = self.tasks.iter().filter(|task| task.checkpoint == id);
            stored.tasks.extend(tasks.cloned());
            let entries = self.entries.iter().filter(|entry| entry.checkpoint == id);
            stored.entries.extend(entries.cloned());
        }
    }

    /// All of it, as it was put.
    fn into_batch(mut self) -> Batch {
        let mut batch = Batch {
            head: self.head,
            checkpoints: Vec::new(),
            tasks: self.tasks,
            entries: self.entries,
            running: self.running,
        };
        for stored in self.order.iter().filter_map(|id| self.records.remove(id)) {
            batch.checkpoints.push(stored.checkpoint);
            batch.tasks.extend(stored.tasks);
            batch.entries.extend(stored.entries);
        }
        batch
    }
}

impl Held {
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> Self {
        Self {
            saver,
            logs: Mutex::default(),
        }
    }

    fn logs(&self) -> MutexGuard<'_, HashMap<ThreadKey, HeldLog>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when a checkpoint is not stored.
    pub(crate) fn holds(&self, key: &ThreadKey, id: CheckpointId) -> bool {
        self.logs()
            .get(key)
            .is_some_and(|log| log.records.contains_key(&id))
    }

    /// The nearest checkpoint before `id` that is stored.
    pub(crate) fn stored_before(&self, key: &ThreadKey, id: CheckpointId) -> Option<CheckpointId> {
        let logs = self.logs();
        let mut before = Some(id);
        while let Some(held) = before.and_then(|id| logs.get(key)?.records.get(&id)) {
            before = held.checkpoint.parent;
        }
        before
    }

    /// Stores the last checkpoint of the root's log: `folded`, or what was added to one that is
    /// stored; the logs of the graphs inside its tasks; and those that are kept from call to call.
    pub(crate) async fn release(
        &self,
        root: &ThreadKey,
        last: CheckpointId,
        folded: Option<Stored>,
    ) -> Result<(), CheckpointError> {
        let mut logs = std::mem::take(&mut *self.logs());
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
            running: kept.running,
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
    }
}

/// True when the log of a graph inside is of use behind the checkpoint `last` of `root`: it is kept
/// from call to call, or the task that it belongs to is pending.
fn is_needed(
    logs: &HashMap<ThreadKey, HeldLog>,
    key: &ThreadKey,
    root: &ThreadKey,
    last: CheckpointId,
) -> bool {
    let depth = root.namespace.len();
    let Some((name, below)) = key.namespace.get(depth..).and_then(<[_]>::split_first) else {
        return false;
    };
    if let Some(checkpoint) = Place::checkpoint_of(name) {
        return checkpoint == last;
    }
    let Some(task) = below.first() else {
        return true;
    };
    let kept = ThreadKey {
        thread: key.thread.clone(),
        namespace: key.namespace.iter().take(depth + 1).cloned().collect(),
    };
    let end = logs.get(&kept).and_then(|log| log.held);
    end.is_none_or(|end| Place::checkpoint_of(task) == Some(end.id))
}

impl Checkpointer for Held {
    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
        let head = batch.head;
        let mut logs = self.logs();
        let log = logs.entry(key.clone()).or_insert_with(|| HeldLog {
            head,
            held: head,
            ..HeldLog::default()
        });
        let result = log.put(key, batch);
        Box::pin(std::future::ready(result))
    }

    fn load<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
    ) -> SaverFuture<'a, Option<Chain>> {
        Box::pin(async move {
            let held = self
                .logs()
                .get(key)
                .and_then(|log| Some((log.chain(id), log.held?)));
            let Some(((mut newer, before), head)) = held else {
                return self.saver.load(key, id).await;
            };
            let mut chain = match before {
                Some(id) => self.saver.load(key, Some(id)).await?,
                None => None,
            }
            .map_or_else(Vec::new, |chain| chain.records);
            if let Some(log) = self.logs().get(key) {
                log.complete(&mut chain);
            }
            newer.reverse();
            chain.append(&mut newer);
            Ok(Some(Chain::new(head, chain)))
        })
    }

    fn load_state<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
        see: &'a mut SeePast<'a>,
    ) -> SaverFuture<'a, Option<Standing>> {
        if !self.logs().contains_key(key) {
            return self.saver.load_state(key, id, see);
        }
        Box::pin(async move {
            let chain = self.load(key, id).await?;
            Ok(chain.map(|chain| chain.hand_over(see)))
        })
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, Option<Head>> {
        let held = self.logs().get(key).and_then(|log| log.held);
        match held {
            Some(head) => Box::pin(std::future::ready(Ok(Some(head)))),
            None => self.saver.head(key),
        }
    }

    fn delete_log<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, ()> {
        self.logs().remove(key);
        self.saver.delete_log(key)
    }

    fn delete_thread<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, ()> {
        self.logs().retain(|key, _| key.thread != thread);
        self.saver.delete_thread(thread)
    }

    forward!(saver: formats, list, logs, threads, copy_thread, prune, usage, lease, release);
}
