//! Threads in memory.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;

use super::{
    Administration, Batch, Chain, Checkpointer, Formats, HeldBy, Leases, ListOptions, Owner, Prune,
    RunStatus, StatePart, StorageUsage, Stored, TaskRecord, ThreadFilter, ThreadInfo, ThreadKey,
    ThreadPosition, VisitStatePart,
};
use crate::checkpoint_id::CheckpointId;
use crate::error::CheckpointError;
use crate::head::Head;

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
    threads: Mutex<BTreeMap<String, Thread>>,
    /// The threads that are to be woken, by time.
    sleeping: Mutex<BTreeSet<(SystemTime, String)>>,
}

#[derive(Default)]
struct Thread {
    /// By the path of nodes to the graph.
    logs: BTreeMap<Vec<String>, Log>,
    lease: Option<Lease>,
}

struct Lease {
    holder: String,
    until: Instant,
}

#[derive(Clone)]
struct Log {
    /// Oldest first.
    order: Vec<CheckpointId>,
    /// In the order of their ids, which is nearly always that of their creation. A copy of the
    /// thread shares them.
    records: Vec<Arc<Stored>>,
    version: u64,
    status: RunStatus,
    owner: Option<Arc<Owner>>,
    updated_at: SystemTime,
    wake_at: Option<SystemTime>,
}

impl MemorySaver {
    /// Creates a saver without threads.
    pub fn new() -> Self {
        Self::default()
    }

    fn threads(&self) -> MutexGuard<'_, BTreeMap<String, Thread>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `look` with a log, if it exists.
    /// Notes that a thread is to be woken at another time. Called while the threads are locked.
    fn wakes(&self, thread: &str, before: Option<SystemTime>, now: Option<SystemTime>) {
        if before == now {
            return;
        }
        let mut sleeping = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = before {
            sleeping.remove(&(before, thread.to_owned()));
        }
        if let Some(now) = now {
            sleeping.insert((now, thread.to_owned()));
        }
    }

    /// Returns the names of the threads that are to be woken at `time` or before.
    fn due(&self, time: SystemTime) -> BTreeSet<String> {
        let sleeping = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        let due = sleeping.iter().take_while(|(at, _)| *at <= time);
        due.map(|(_, thread)| thread.clone()).collect()
    }

    fn at<T>(&self, key: &ThreadKey, look: impl FnOnce(&mut Log) -> T) -> Option<T> {
        let mut threads = self.threads();
        let log = threads.get_mut(&key.thread)?.logs.get_mut(&key.namespace)?;
        Some(look(log))
    }
}

impl Log {
    fn new() -> Self {
        Self {
            order: Vec::new(),
            records: Vec::new(),
            version: 0,
            status: RunStatus::Done,
            owner: None,
            updated_at: SystemTime::now(),
            wake_at: None,
        }
    }

    fn position(&self, id: CheckpointId) -> Result<usize, usize> {
        let id_of = |stored: &Arc<Stored>| stored.checkpoint.id;
        // A run writes to the last two: the checkpoint whose tasks have run, and the next.
        let (newest, before) = match &*self.records {
            [.., before, newest] => (newest, Some(before)),
            [newest] => (newest, None),
            [] => return Err(0),
        };
        match id_of(newest).cmp(&id) {
            Ordering::Equal => Ok(self.records.len() - 1),
            Ordering::Less => Err(self.records.len()),
            Ordering::Greater if before.is_some_and(|before| id_of(before) == id) => {
                Ok(self.records.len() - 2)
            }
            Ordering::Greater => self.records.binary_search_by_key(&id, id_of),
        }
    }

    fn record(&self, id: CheckpointId) -> Option<&Stored> {
        self.records
            .get(self.position(id).ok()?)
            .map(|stored| &**stored)
    }

    fn record_mut(&mut self, id: CheckpointId) -> Option<&mut Stored> {
        let position = self.position(id).ok()?;
        self.records.get_mut(position).map(Arc::make_mut)
    }

    fn insert(&mut self, stored: Arc<Stored>) {
        match self.position(stored.checkpoint.id) {
            Ok(known) => drop(self.records.splice(known..=known, [stored])),
            Err(position) => self.records.insert(position, stored),
        }
    }

    fn head(&self) -> Option<Head> {
        let id = *self.order.last()?;
        Some(Head::new(id, self.version))
    }

    fn put(&mut self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        if self.head() != batch.head {
            return Err(CheckpointError::Conflict {
                thread: key.thread.clone(),
                known: batch.head,
                head: self.head(),
            });
        }
        if let Some(base) = batch.bases().find(|id| self.record(*id).is_none()) {
            let thread = key.thread.clone();
            return Err(CheckpointError::BaseGone { thread, base });
        }
        self.version += 1;
        self.status = batch.status;
        self.owner = batch.owner.or_else(|| self.owner.take());
        self.updated_at = SystemTime::now();
        self.wake_at = batch.wake_at;
        for checkpoint in batch.checkpoints {
            self.order.push(checkpoint.id);
            self.insert(Arc::new(Stored {
                tasks: Vec::new(),
                entries: Vec::new(),
                checkpoint,
            }));
        }
        self.put_tasks(batch.tasks);
        for entry in batch.entries {
            if let Some(stored) = self.record_mut(entry.checkpoint) {
                stored.entries.push(entry);
            }
        }
        Ok(())
    }

    fn put_tasks(&mut self, mut tasks: Vec<TaskRecord>) {
        let Some(first) = tasks.first().map(|task| task.checkpoint) else {
            return;
        };
        // As a rule they are the first records of one checkpoint: it takes the list as it is.
        if tasks.iter().all(|task| task.checkpoint == first)
            && let Some(stored) = self.record_mut(first)
            && stored.tasks.is_empty()
        {
            stored.tasks = std::mem::take(&mut tasks);
        }
        for task in tasks {
            if let Some(stored) = self.record_mut(task.checkpoint) {
                stored.tasks.push(task);
            }
        }
    }

    fn load(&self, id: Option<CheckpointId>) -> Option<Chain> {
        let mut chain = Vec::new();
        let head = self.head()?;
        let mut wanted = Some(id.unwrap_or(head.id));
        while let Some(stored) = wanted.and_then(|id| self.record(id)) {
            chain.push(stored.clone());
            wanted = match (&stored.checkpoint.snapshot, stored.checkpoint.base) {
                (None, Some(base)) => Some(base.id),
                _ => None,
            };
        }
        chain.reverse();
        Some(Chain::new(head, self.owner.clone(), chain))
    }

    /// Returns the parts of a checkpoint's state, and clones nothing else.
    fn load_state(&self, id: Option<CheckpointId>) -> Option<(Vec<StatePart>, ThreadPosition)> {
        let head = self.head()?;
        let mut bases = Vec::new();
        let checkpoint = self.record(id.unwrap_or(head.id));
        let mut next = checkpoint;
        while let Some(Stored { checkpoint, .. }) = next
            && let (None, Some(base)) = (&checkpoint.snapshot, checkpoint.base)
        {
            next = self.record(base.id);
            bases.extend(next.map(|stored| (stored, base.with_tasks)));
        }
        let mut parts = Vec::with_capacity(bases.len());
        for (stored, with_tasks) in bases.into_iter().rev() {
            StatePart::visit_each(stored, with_tasks, &mut |part| parts.push(part));
        }
        let position = ThreadPosition::new(head, self.owner.clone(), checkpoint.cloned());
        Some((parts, position))
    }

    fn list(&self, options: &ListOptions) -> Vec<CheckpointId> {
        let wanted = |id: &CheckpointId| {
            self.record(*id).is_some_and(|Stored { checkpoint, .. }| {
                options.wants(
                    *id,
                    checkpoint.step,
                    checkpoint.source,
                    &checkpoint.metadata,
                )
            })
        };
        let newest_first = self.order.iter().rev().copied().filter(wanted);
        newest_first
            .take(options.limit.unwrap_or(usize::MAX))
            .collect()
    }

    fn prune(&mut self, thread: &str, prune: Prune) -> Result<(), CheckpointError> {
        let rest = self.records.iter().filter_map(|stored| {
            let checkpoint = &stored.checkpoint;
            let base = checkpoint.base.filter(|_| checkpoint.snapshot.is_none());
            base.map(|base| (checkpoint.id, base.id))
        });
        if let Some(base) = prune.needed(rest) {
            let thread = thread.to_owned();
            return Err(CheckpointError::BaseGone { thread, base });
        }
        for fold in prune.fold {
            if let Some(stored) = self.record_mut(fold.id) {
                stored.checkpoint.snapshot = Some(fold.snapshot);
                stored.checkpoint.ran = fold.ran;
                stored.checkpoint.joined = fold.joined;
                stored.checkpoint.since_snapshot = 0;
            }
        }
        let delete: HashSet<_> = prune.delete.into_iter().collect();
        self.order.retain(|id| !delete.contains(id));
        self.records
            .retain(|stored| !delete.contains(&stored.checkpoint.id));
        Ok(())
    }
}

#[async_trait]
impl Checkpointer for MemorySaver {
    fn formats(&self) -> Option<&Formats> {
        None
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let mut threads = self.threads();
        let log = threads
            .get_mut(&key.thread)
            .and_then(|thread| thread.logs.get_mut(&key.namespace));
        if let Some(log) = log {
            let before = log.wake_at;
            let result = log.put(key, batch);
            self.wakes(&key.thread, before, log.wake_at);
            result
        } else {
            let mut log = Log::new();
            let result = log.put(key, batch);
            // A log without a checkpoint does not exist.
            if result.is_ok() && !log.order.is_empty() {
                self.wakes(&key.thread, None, log.wake_at);
                let thread = threads.entry(key.thread.clone()).or_default();
                thread.logs.insert(key.namespace.clone(), log);
            }
            result
        }
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
        Ok(self.at(key, |log| log.head()).flatten())
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

#[async_trait]
impl Administration for MemorySaver {
    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError> {
        let threads = self.threads();
        let namespaces = threads.get(thread).map(|thread| thread.logs.keys());
        let keys = namespaces.into_iter().flatten().map(|namespace| ThreadKey {
            thread: thread.to_owned(),
            namespace: namespace.clone(),
        });
        Ok(keys.collect())
    }

    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let threads = self.threads();
        let info = |name: &String, thread: &Thread| {
            let root = thread.root()?;
            let (head, owner) = (root.head()?, root.owner.clone());
            let info = ThreadInfo::new(name, head, owner, root.status, root.updated_at)
                .with_wake_at(root.wake_at);
            filter.wants(&info).then_some(info)
        };
        let limit = filter.limit.unwrap_or(usize::MAX);
        // Only the named threads, where the filter names some.
        let named = match (&filter.thread, filter.due_at) {
            (Some(thread), _) => BTreeSet::from([thread.clone()]),
            (None, Some(time)) => self.due(time),
            (None, None) => {
                let all = threads
                    .iter()
                    .filter_map(|(name, thread)| info(name, thread));
                return Ok(all.take(limit).collect());
            }
        };
        let found = named
            .iter()
            .filter_map(|name| info(name, threads.get(name)?));
        Ok(found.take(limit).collect())
    }

    async fn set_wake_at(
        &self,
        thread: &str,
        head: Head,
        wake_at: Option<SystemTime>,
    ) -> Result<(), CheckpointError> {
        let mut threads = self.threads();
        let root = threads.get_mut(thread).and_then(Thread::root_mut);
        if let Some(root) = root.filter(|root| root.head() == Some(head)) {
            self.wakes(thread, root.wake_at, wake_at);
            root.wake_at = wake_at;
        }
        Ok(())
    }

    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError> {
        let mut threads = self.threads();
        let has_logs = |thread: &&Thread| !thread.logs.is_empty();
        let result = match (
            threads.get(from).filter(has_logs),
            threads.get(to).filter(has_logs),
        ) {
            (None, _) => Err(CheckpointError::UnknownThread(from.to_owned())),
            (Some(_), Some(_)) => Err(CheckpointError::ThreadExists(to.to_owned())),
            (Some(from), None) => Ok(from.logs.clone()),
        };
        let logs = result?;
        let copy = threads.entry(to.to_owned()).or_default();
        copy.logs = logs;
        self.wakes(to, None, copy.root().and_then(|root| root.wake_at));
        Ok(())
    }

    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError> {
        let pruned = self.at(key, |log| log.prune(&key.thread, prune));
        pruned.unwrap_or(Ok(()))
    }

    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError> {
        if let Some(thread) = self.threads().get_mut(&key.thread) {
            let removed = thread.logs.remove(&key.namespace);
            self.wakes(&key.thread, removed.and_then(|log| log.wake_at), None);
        }
        Ok(())
    }

    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError> {
        self.delete(&mut self.threads(), thread);
        Ok(())
    }

    async fn delete_thread_at(&self, thread: &str, head: Head) -> Result<(), CheckpointError> {
        let mut threads = self.threads();
        let found = threads.get(thread).and_then(|thread| thread.root()?.head());
        if found != Some(head) {
            return Err(CheckpointError::Conflict {
                thread: thread.to_owned(),
                known: Some(head),
                head: found,
            });
        }
        self.delete(&mut threads, thread);
        Ok(())
    }

    async fn usage(&self, thread: &str) -> Result<StorageUsage, CheckpointError> {
        let mut usage = StorageUsage::default();
        if let Some(thread) = self.threads().get(thread) {
            for log in thread.logs.values() {
                usage.logs += 1;
                usage.checkpoints += log.order.len() as u64;
                let records = log.records.iter();
                usage.records += records
                    .map(|stored| (stored.tasks.len() + stored.entries.len()) as u64)
                    .sum::<u64>();
            }
        }
        Ok(usage)
    }
}

impl MemorySaver {
    fn delete(&self, threads: &mut BTreeMap<String, Thread>, thread: &str) {
        if let Some(kept) = threads.get_mut(thread) {
            self.wakes(thread, kept.root().and_then(|root| root.wake_at), None);
            // The leases stay.
            kept.logs.clear();
            if kept.lease.is_none() {
                threads.remove(thread);
            }
        }
    }
}

impl Thread {
    /// Returns the root graph's log.
    fn root(&self) -> Option<&Log> {
        self.logs.get(&[] as &[String])
    }

    fn root_mut(&mut self) -> Option<&mut Log> {
        self.logs.get_mut(&[] as &[String])
    }
}

/// Returns when a lease ends. One that no clock can show lasts for a century.
fn end_of(now: Instant, term: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    now.checked_add(term.min(CENTURY)).unwrap_or(now)
}

#[async_trait]
impl Leases for MemorySaver {
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        let mut threads = self.threads();
        let thread = threads.entry(thread.to_owned()).or_default();
        let now = Instant::now();
        if let Some(held) = &thread.lease
            && held.holder != holder
            && held.until > now
        {
            let now_by_clock = SystemTime::now();
            let left = held.until.duration_since(now);
            let until = now_by_clock.checked_add(left).unwrap_or(now_by_clock);
            return Ok(Some(HeldBy::new(&*held.holder, until)));
        }
        thread.lease = Some(Lease {
            holder: holder.to_owned(),
            until: end_of(now, term),
        });
        Ok(None)
    }

    async fn renew(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError> {
        let mut threads = self.threads();
        let lease = threads
            .get_mut(thread)
            .and_then(|thread| thread.lease.as_mut())
            .filter(|lease| lease.holder == holder);
        let held = lease.map(|lease| lease.until = end_of(Instant::now(), term));
        Ok(held.is_some())
    }

    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        let mut threads = self.threads();
        if let Some(kept) = threads.get_mut(thread) {
            kept.lease.take_if(|lease| lease.holder == holder);
            if kept.lease.is_none() && kept.logs.is_empty() {
                threads.remove(thread);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for MemorySaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySaver")
            .field("threads", &self.threads().len())
            .finish()
    }
}
