//! A saver that keeps bytes, in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use langgraph::async_trait;
use langgraph::checkpoint::{
    Administration, Batch, Bytes, Chain, CheckpointId, CheckpointRecord, Checkpointer, Formats,
    Head, HeldBy, Leases, ListOptions, Owner, Prune, Rewind, RunStatus, Saver, Source,
    StorageUsage, ThreadFilter, ThreadInfo, ThreadKey,
};
use langgraph::error::CheckpointError;
use langgraph_sql::rows::{self, KeptRows, Row, RowKind};
use serde_json::Value;

/// Keeps threads in memory, as a saver with a disk would: only rows of bytes.
#[derive(Debug, Default)]
pub struct ByteSaver {
    formats: Formats,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    logs: BTreeMap<ThreadKey, Log>,
    /// The holder of each thread, and the end of its lease.
    leases: BTreeMap<String, (String, Instant)>,
}

#[derive(Clone, Debug)]
struct Log {
    head: Head,
    owner: Option<Arc<Owner>>,
    status: RunStatus,
    updated_at: SystemTime,
    wake_at: Option<SystemTime>,
    checkpoints: BTreeMap<CheckpointId, Line>,
    /// In the order in which they were stored.
    rows: Vec<Row>,
}

/// The fields of a checkpoint that need no read of its rows.
#[derive(Clone, Debug)]
struct Line {
    base: Option<CheckpointId>,
    snapshot: bool,
    step: i64,
    source: Source,
    metadata: BTreeMap<String, Value>,
}

/// A log with all its rows.
#[derive(Clone, Debug)]
pub struct KeptLog {
    /// Its name.
    pub key: ThreadKey,
    /// Its head.
    pub head: Head,
    /// True while a run has not ended.
    pub status: RunStatus,
    /// Its rows, in the order in which they were stored.
    pub rows: Vec<Row>,
}

impl ByteSaver {
    /// Creates a saver that writes these formats.
    pub fn new(formats: Formats) -> Self {
        Self {
            formats,
            ..Self::default()
        }
    }

    /// Returns everything that it stores.
    pub fn dump(&self) -> Vec<KeptLog> {
        let kept = self.kept();
        let logs = kept.logs.iter().map(|(key, log)| KeptLog {
            key: key.clone(),
            head: log.head,
            status: log.status,
            rows: log.rows.clone(),
        });
        logs.collect()
    }

    /// Restores a log from a dump.
    ///
    /// # Errors
    ///
    /// If its rows cannot be read.
    pub fn restore(&self, log: KeptLog) -> Result<(), CheckpointError> {
        let stored = rows::decode(log.rows.iter().cloned())?;
        let lines = stored.iter().map(|stored| {
            let checkpoint = &stored.checkpoint;
            (checkpoint.id, Line::of(checkpoint))
        });
        let restored = Log {
            head: log.head,
            // Dumps are older than owners.
            owner: None,
            status: log.status,
            updated_at: SystemTime::now(),
            wake_at: None,
            checkpoints: lines.collect(),
            rows: log.rows,
        };
        self.kept().logs.insert(log.key, restored);
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn put(
        &mut self,
        key: &ThreadKey,
        batch: Batch,
        formats: &Formats,
    ) -> Result<(), CheckpointError> {
        let head = self.logs.get(key).map(|log| log.head);
        if head != batch.head {
            return Err(CheckpointError::Conflict {
                thread: key.thread.clone(),
                known: batch.head,
                head,
            });
        }
        let stored = |id: &CheckpointId| {
            let log = self.logs.get(key);
            log.is_some_and(|log| log.checkpoints.contains_key(id))
        };
        if let Some(base) = batch.bases().find(|id| !stored(id)) {
            let thread = key.thread.clone();
            return Err(CheckpointError::BaseGone { thread, base });
        }
        let (Some(head), status, wake_at) = (batch.next_head(), batch.status, batch.wake_at) else {
            return Ok(());
        };
        let owner = batch.owner.clone();
        let lines = batch
            .checkpoints
            .iter()
            .map(|checkpoint| (checkpoint.id, Line::of(checkpoint)));
        let lines: Vec<_> = lines.collect();
        let rows = rows::encode(batch, formats)?;
        let log = self.logs.entry(key.clone()).or_insert_with(|| Log {
            head,
            owner: None,
            status,
            updated_at: SystemTime::now(),
            wake_at: None,
            checkpoints: BTreeMap::new(),
            rows: Vec::new(),
        });
        log.head = head;
        log.status = status;
        log.owner = owner.or_else(|| log.owner.take());
        log.updated_at = SystemTime::now();
        log.wake_at = wake_at;
        log.checkpoints.extend(lines);
        let known = &log.checkpoints;
        let rows = rows.into_iter();
        log.rows
            .extend(rows.filter(|row| known.contains_key(&row.checkpoint)));
        Ok(())
    }

    fn of<'a>(&'a self, thread: &'a str) -> impl Iterator<Item = (&'a ThreadKey, &'a Log)> {
        let all = self.logs.range(ThreadKey::root(thread)..);
        all.take_while(move |(key, _)| key.thread == thread)
    }
}

impl Line {
    fn of(checkpoint: &CheckpointRecord) -> Self {
        Self {
            base: checkpoint.base.map(|base| base.id),
            snapshot: checkpoint.snapshot.is_some(),
            step: checkpoint.step,
            source: checkpoint.source,
            metadata: BTreeMap::clone(&checkpoint.metadata),
        }
    }
}

impl Log {
    fn load(&self, id: Option<CheckpointId>) -> Result<Chain, CheckpointError> {
        let mut chain = BTreeMap::new();
        let mut wanted = Some(id.unwrap_or(self.head.id));
        while let Some((id, line)) = wanted.and_then(|id| self.checkpoints.get_key_value(&id)) {
            chain.insert(*id, line);
            wanted = line.base.filter(|_| !line.snapshot);
        }
        let rows = self.rows.iter();
        let rows = rows.filter(|row| chain.contains_key(&row.checkpoint));
        Ok(Chain::new(
            self.head,
            self.owner.clone(),
            rows::decode(rows.cloned())?,
        ))
    }

    fn prune(
        &mut self,
        thread: &str,
        prune: Prune,
        formats: &Formats,
    ) -> Result<(), CheckpointError> {
        let lines = self.checkpoints.iter();
        let rest =
            lines.filter_map(|(id, line)| Some((*id, line.base.filter(|_| !line.snapshot)?)));
        if let Some(base) = prune.needed(rest) {
            let thread = thread.to_owned();
            return Err(CheckpointError::BaseGone { thread, base });
        }
        let mut pruned = self.clone();
        for fold in prune.fold {
            let id = fold.id;
            let first = |row: &&mut Row| row.checkpoint == id && row.kind == RowKind::Checkpoint;
            if let Some(row) = pruned.rows.iter_mut().find(first)
                && let Some(line) = pruned.checkpoints.get_mut(&id)
            {
                *row = rows::fold(fold, row, formats)?;
                line.snapshot = true;
            }
        }
        for id in &prune.delete {
            pruned.checkpoints.remove(id);
        }
        let known = &pruned.checkpoints;
        pruned
            .rows
            .retain(|row| known.contains_key(&row.checkpoint));
        *self = pruned;
        Ok(())
    }
}

impl Log {
    fn rewind(&mut self, rewind: &Rewind) -> bool {
        let to = rewind.to;
        if !self.checkpoints.contains_key(&to) {
            return false;
        }
        self.checkpoints.retain(|id, _| *id <= to);
        let mut kept = KeptRows::of(rewind);
        let known = &self.checkpoints;
        self.rows.retain(|row| {
            known.contains_key(&row.checkpoint) && (row.checkpoint != to || kept.keeps(row.kind))
        });
        self.head = Head::new(to, self.head.version + 1);
        self.status = rewind.status;
        self.updated_at = SystemTime::now();
        self.wake_at = rewind.wake_at;
        true
    }
}

impl Saver for ByteSaver {
    type Stores = Bytes;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

#[async_trait]
impl Checkpointer for ByteSaver {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.kept().put(key, batch, &self.formats)
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        let kept = self.kept();
        kept.logs.get(key).map(|log| log.load(id)).transpose()
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        Ok(self.kept().logs.get(key).map(|log| log.head))
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        let kept = self.kept();
        let lines = kept.logs.get(key).map(|log| log.checkpoints.iter().rev());
        let wanted = lines
            .into_iter()
            .flatten()
            .filter(|(id, line)| options.wants(**id, line.step, line.source, &line.metadata));
        let wanted = wanted.map(|(id, _)| *id);
        Ok(wanted.take(options.limit.unwrap_or(usize::MAX)).collect())
    }

    fn leases(&self) -> Option<&dyn Leases> {
        Some(self)
    }

    fn administration(&self) -> Option<&dyn Administration> {
        Some(self)
    }
}

#[async_trait]
impl Administration for ByteSaver {
    async fn set_wake_at(
        &self,
        thread: &str,
        head: Head,
        wake_at: Option<SystemTime>,
    ) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        let root = kept.logs.get_mut(&ThreadKey::root(thread));
        if let Some(log) = root.filter(|log| log.head == head) {
            log.wake_at = wake_at;
        }
        Ok(())
    }

    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError> {
        Ok(self.kept().of(thread).map(|(key, _)| key.clone()).collect())
    }

    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let kept = self.kept();
        let roots = kept.logs.iter().filter(|(key, _)| key.namespace.is_empty());
        let infos = roots.map(|(key, log)| {
            let owner = log.owner.clone();
            ThreadInfo::new(&*key.thread, log.head, owner, log.status, log.updated_at)
                .with_wake_at(log.wake_at)
        });
        let wanted = infos.filter(|info| filter.wants(info));
        Ok(wanted.take(filter.limit.unwrap_or(usize::MAX)).collect())
    }

    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        let copies = kept.of(from).map(|(key, log)| {
            let key = ThreadKey {
                thread: to.to_owned(),
                namespace: key.namespace.clone(),
            };
            (key, log.clone())
        });
        let copies: Vec<_> = copies.collect();
        if copies.is_empty() {
            return Err(CheckpointError::UnknownThread(from.to_owned()));
        }
        if kept.of(to).next().is_some() {
            return Err(CheckpointError::ThreadExists(to.to_owned()));
        }
        kept.logs.extend(copies);
        Ok(())
    }

    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        let log = kept.logs.get_mut(key);
        log.map_or(Ok(()), |log| log.prune(&key.thread, prune, &self.formats))
    }

    async fn rewind(&self, key: &ThreadKey, rewind: Rewind) -> Result<bool, CheckpointError> {
        let mut kept = self.kept();
        let log = kept.logs.get_mut(key);
        Ok(log.is_some_and(|log| log.rewind(&rewind)))
    }

    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError> {
        self.kept().logs.remove(key);
        Ok(())
    }

    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError> {
        self.kept().logs.retain(|key, _| key.thread != thread);
        Ok(())
    }

    async fn delete_thread_at(&self, thread: &str, head: Head) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        let log = kept.logs.get(&ThreadKey::root(thread));
        let found = log.map(|log| log.head);
        if found != Some(head) {
            return Err(CheckpointError::Conflict {
                thread: thread.to_owned(),
                known: Some(head),
                head: found,
            });
        }
        kept.logs.retain(|key, _| key.thread != thread);
        Ok(())
    }

    async fn usage(&self, thread: &str) -> Result<StorageUsage, CheckpointError> {
        let mut usage = StorageUsage::default();
        for (_, log) in self.kept().of(thread) {
            usage.logs += 1;
            usage.checkpoints += log.checkpoints.len() as u64;
            let records = log.rows.iter();
            let records = records.filter(|row| matches!(row.kind, RowKind::Task | RowKind::Entry));
            usage.records += records.count() as u64;
            usage.bytes += log.rows.iter().map(|row| row.size() as u64).sum::<u64>();
        }
        Ok(usage)
    }
}

/// No lease is longer.
const DECADE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

#[async_trait]
impl Leases for ByteSaver {
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        let mut kept = self.kept();
        let now = Instant::now();
        if let Some((other, until)) = kept.leases.get(thread)
            && other != holder
            && *until > now
        {
            return Ok(Some(HeldBy::new(
                &**other,
                SystemTime::now() + (*until - now),
            )));
        }
        let lease = (holder.to_owned(), now + term.min(DECADE));
        kept.leases.insert(thread.to_owned(), lease);
        Ok(None)
    }

    async fn renew(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError> {
        let mut kept = self.kept();
        let lease = kept.leases.get_mut(thread);
        let held = lease.filter(|(held_by, _)| held_by == holder);
        Ok(held
            .map(|(_, until)| *until = Instant::now() + term.min(DECADE))
            .is_some())
    }

    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        if kept
            .leases
            .get(thread)
            .is_some_and(|(held_by, _)| held_by == holder)
        {
            kept.leases.remove(thread);
        }
        Ok(())
    }
}
