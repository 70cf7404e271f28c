//! The administration of threads in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use async_trait::async_trait;

use super::log::Log;
use super::saver::{MemorySaver, stored_at};
use super::thread::Thread;
use crate::checkpoint::{
    Administration, Prune, Rewind, StorageUsage, ThreadFilter, ThreadInfo, ThreadKey,
};
use crate::error::CheckpointError;
use crate::head::Head;

#[async_trait]
impl Administration for MemorySaver {
    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError> {
        let threads = self.threads.lock();
        let namespaces = threads.get(thread).map(|thread| thread.logs.keys());
        let keys = namespaces.into_iter().flatten().map(|namespace| ThreadKey {
            thread: thread.to_owned(),
            namespace: namespace.clone(),
        });
        Ok(keys.collect())
    }

    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let threads = self.threads.lock();
        let info = |name: &String, thread: &Thread| {
            let info = thread.root()?.info(name)?;
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
        let mut threads = self.threads.lock();
        let root = threads.get_mut(thread).and_then(Thread::root_mut);
        if let Some(root) = root
            .map(Log::stored)
            .filter(|root| root.head() == Some(head))
        {
            self.wakes(thread, root.wake_at, wake_at);
            root.wake_at = wake_at;
        }
        Ok(())
    }

    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError> {
        let mut threads = self.threads.lock();
        let exists = |name| {
            threads
                .get(name)
                .is_some_and(|thread| !thread.logs.is_empty())
        };
        let (known, taken) = (exists(from), exists(to));
        let Some(original) = threads.get_mut(from).filter(|_| known) else {
            return Err(CheckpointError::UnknownThread(from.to_owned()));
        };
        if taken {
            return Err(CheckpointError::ThreadExists(to.to_owned()));
        }
        let logs = original.logs.iter_mut();
        let logs = logs.map(|(namespace, log)| (namespace.clone(), log.stored().clone().into()));
        let logs = logs.collect();
        let copy = threads.entry(to.to_owned()).or_default();
        copy.logs = logs;
        self.wakes(to, None, copy.root().and_then(Log::wake_at));
        Ok(())
    }

    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError> {
        let pruned = self.at(key, |log| log.prune(&key.thread, prune));
        pruned.unwrap_or(Ok(()))
    }

    async fn rewind(&self, key: &ThreadKey, rewind: Rewind) -> Result<bool, CheckpointError> {
        let mut threads = self.threads.lock();
        let Some(log) = stored_at(&mut threads, key) else {
            return Ok(false);
        };
        let before = log.wake_at;
        let is_rewound = log.rewind(&rewind);
        self.wakes(&key.thread, before, log.wake_at);
        Ok(is_rewound)
    }

    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError> {
        if let Some(thread) = self.threads.lock().get_mut(&key.thread) {
            let removed = thread.logs.remove(&key.namespace);
            self.wakes(&key.thread, removed.and_then(|log| log.wake_at()), None);
        }
        Ok(())
    }

    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError> {
        self.delete(&mut self.threads.lock(), thread);
        Ok(())
    }

    async fn delete_thread_at(&self, thread: &str, head: Head) -> Result<(), CheckpointError> {
        let mut threads = self.threads.lock();
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
        if let Some(thread) = self.threads.lock().get_mut(thread) {
            for log in thread.logs.values_mut() {
                log.stored().count(&mut usage);
            }
        }
        Ok(usage)
    }
}

impl MemorySaver {
    fn delete(&self, threads: &mut BTreeMap<String, Thread>, thread: &str) {
        if let Some(kept) = threads.get_mut(thread) {
            self.wakes(thread, kept.root().and_then(Log::wake_at), None);
            // The leases stay.
            kept.logs.clear();
            if kept.lease.is_none() {
                threads.remove(thread);
            }
        }
    }
}
