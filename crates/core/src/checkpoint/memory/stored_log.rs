//! What the log of one graph on a thread has stored.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use super::records::Records;
use crate::checkpoint::{
    Batch, Chain, Links, ListOptions, Owner, Prune, Rewind, RunStatus, StatePart, StorageUsage,
    ThreadKey, ThreadPosition,
};
use crate::checkpoint_id::CheckpointId;
use crate::error::CheckpointError;
use crate::head::Head;

/// The checkpoints of a log with their records.
#[derive(Clone)]
pub(super) struct StoredLog {
    /// Oldest first.
    pub(super) order: Vec<CheckpointId>,
    records: Records,
    version: u64,
    pub(super) status: RunStatus,
    pub(super) owner: Option<Arc<Owner>>,
    pub(super) updated_at: SystemTime,
    pub(super) wake_at: Option<SystemTime>,
}

impl StoredLog {
    pub(super) fn new() -> Self {
        Self {
            order: Vec::new(),
            records: Records::default(),
            version: 0,
            status: RunStatus::Done,
            owner: None,
            updated_at: crate::environment::now(),
            wake_at: None,
        }
    }

    pub(super) fn head(&self) -> Option<Head> {
        let id = *self.order.last()?;
        Some(Head::new(id, self.version))
    }

    pub(super) fn put(
        &mut self,
        key: &ThreadKey,
        batch: &mut Batch,
    ) -> Result<(), CheckpointError> {
        self.check_head(key, batch.head)?;
        if let Some(base) = batch.bases().find(|id| self.records.get(*id).is_none()) {
            let thread = key.thread.clone();
            return Err(CheckpointError::BaseGone { thread, base });
        }
        self.version += 1;
        self.status = batch.status;
        if let Some(owner) = batch.owner.take() {
            self.owner = Some(owner);
        }
        self.updated_at = crate::environment::now();
        self.wake_at = batch.wake_at;
        for checkpoint in batch.checkpoints.drain(..) {
            self.order.push(checkpoint.id);
            self.records.insert(checkpoint);
        }
        for task in &mut batch.tasks {
            if let Some(record) = self.records.get_mut(task.checkpoint) {
                record.add_task(task);
            }
        }
        batch.tasks.clear();
        for entry in std::mem::take(&mut batch.entries) {
            if let Some(record) = self.records.get_mut(entry.checkpoint) {
                record.add_entry(entry);
            }
        }
        Ok(())
    }

    /// Returns true if links may follow `head`.
    pub(super) fn takes_links(&self, key: &ThreadKey, head: Head) -> Result<bool, CheckpointError> {
        self.check_head(key, Some(head))?;
        Ok(self.records.last_id() == Some(head.id))
    }

    /// Adds the links that a run has shared.
    pub(super) fn add_links(&mut self, links: Arc<dyn Links>) {
        let count = links.count();
        links.add_ids(&mut self.order);
        self.version += count as u64;
        if let Some(newest) = count.checked_sub(1).and_then(|last| links.link(last)) {
            self.updated_at = newest.created_at;
        }
        self.records.link(links);
    }

    fn check_head(&self, key: &ThreadKey, known: Option<Head>) -> Result<(), CheckpointError> {
        let head = self.head();
        if head == known {
            return Ok(());
        }
        let thread = key.thread.clone();
        Err(CheckpointError::Conflict {
            thread,
            known,
            head,
        })
    }

    pub(super) fn load(&self, id: Option<CheckpointId>) -> Option<Chain> {
        let mut chain = Vec::new();
        let head = self.head()?;
        let mut wanted = Some(id.unwrap_or(head.id));
        while let Some(record) = wanted.and_then(|id| self.records.get(id)) {
            chain.push(record.to_stored());
            wanted = record.needed_base().map(|base| base.id);
        }
        chain.reverse();
        Some(Chain::new(head, self.owner.clone(), chain))
    }

    /// Returns the parts of a checkpoint's state, and clones little else.
    pub(super) fn load_state(
        &self,
        id: Option<CheckpointId>,
    ) -> Option<(Vec<StatePart>, ThreadPosition)> {
        let head = self.head()?;
        let mut bases = Vec::new();
        let newest = self.records.get(id.unwrap_or(head.id));
        let mut base = newest.as_ref().and_then(|record| record.needed_base());
        while let Some(found) = base
            && let Some(record) = self.records.get(found.id)
        {
            base = record.needed_base();
            bases.push((record, found.with_tasks));
        }
        let mut parts = Vec::with_capacity(bases.len());
        for (record, with_tasks) in bases.into_iter().rev() {
            record.visit_parts(with_tasks, &mut |part| parts.push(part));
        }
        let stored = newest.map(|record| record.to_stored());
        let position = ThreadPosition::new(head, self.owner.clone(), stored);
        Some((parts, position))
    }

    pub(super) fn list(&self, options: &ListOptions) -> Vec<CheckpointId> {
        let wanted = |id: &CheckpointId| {
            let record = self.records.get(*id);
            record.is_some_and(|record| record.is_wanted(options))
        };
        let newest_first = self.order.iter().rev().copied().filter(wanted);
        newest_first
            .take(options.limit.unwrap_or(usize::MAX))
            .collect()
    }

    pub(super) fn prune(&mut self, thread: &str, prune: Prune) -> Result<(), CheckpointError> {
        let rest = self.records.iter();
        let rest = rest.filter_map(|record| Some((record.id(), record.needed_base()?.id)));
        if let Some(base) = prune.needed(rest) {
            let thread = thread.to_owned();
            return Err(CheckpointError::BaseGone { thread, base });
        }
        for fold in prune.fold {
            if let Some(record) = self.records.get_mut(fold.id) {
                record.fold(fold);
            }
        }
        let delete: HashSet<_> = prune.delete.into_iter().collect();
        self.order.retain(|id| !delete.contains(id));
        self.records.retain(|record| !delete.contains(&record.id()));
        Ok(())
    }

    /// Makes a checkpoint the head again; returns false if there is no such checkpoint.
    pub(super) fn rewind(&mut self, rewind: &Rewind) -> bool {
        let to = rewind.to;
        let Some(record) = self.records.get_mut(to) else {
            return false;
        };
        record.truncate(rewind.tasks, rewind.entries);
        self.records.retain(|record| record.id() <= to);
        self.order.retain(|id| *id < to);
        self.order.push(to);
        self.version += 1;
        self.status = rewind.status;
        self.updated_at = crate::environment::now();
        self.wake_at = rewind.wake_at;
        true
    }

    /// Adds what the log holds.
    pub(super) fn count(&self, usage: &mut StorageUsage) {
        usage.logs += 1;
        usage.checkpoints += self.order.len() as u64;
        let records = self.records.iter().map(|record| record.len());
        usage.records += records.sum::<usize>() as u64;
    }
}
