//! How a thread stood before a run, and the way back to it.

use std::sync::Arc;
use std::time::SystemTime;

use langgraph::checkpoint::{
    self, Batch, CheckpointId, Checkpointer, ListOptions, Owner, Prune, RunStatus, Stored,
    ThreadFilter, ThreadKey,
};
use langgraph::error::CheckpointError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::thread_row::ThreadStatusUpdate;
use crate::app::App;
use crate::error::ApiResult;
use crate::rows::Base;

/// How a thread stood before a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Before {
    /// What its row said.
    status: String,
    error: Value,
    /// How its last run stood.
    run: RunStatus,
    wake_at: Option<SystemTime>,
    /// Where its log ended, and those of the subgraphs that have not ended: the outer before the inner ones.
    logs: Vec<LogEnd>,
}

/// Where a log ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LogEnd {
    namespace: Vec<String>,
    head: CheckpointId,
    /// How many records its last checkpoint had; `None` if none can have come since.
    records: Option<Records>,
    /// What its state is based on.
    base: Option<checkpoint::Base>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Records {
    tasks: usize,
    entries: usize,
}

impl Default for Before {
    fn default() -> Self {
        Self {
            status: "idle".to_owned(),
            error: Value::Null,
            run: RunStatus::Done,
            wake_at: None,
            logs: Vec::new(),
        }
    }
}

impl Before {
    /// Reads how a thread stands.
    pub(super) async fn of(app: &App, thread: &str) -> ApiResult<Self> {
        let saver = app.saver.plain();
        let administration = saver.administration_for(ROLLBACK)?;
        let mut before = Self::default();
        if let Some(row) = app
            .rows
            .thread(thread)
            .await?
            .filter(|row| row.status != "busy")
        {
            (before.status, before.error) = (row.status, row.error);
        }
        let filter = ThreadFilter::new().thread(thread);
        if let Some(info) = administration.threads(filter).await?.into_iter().next() {
            (before.run, before.wake_at) = (info.status, info.wake_at);
        }
        for key in outer_first(administration.logs(thread).await?) {
            if before.is_open(&key.namespace)
                && let Some(end) = LogEnd::of(&*saver, key).await?
            {
                before.logs.push(end);
            }
        }
        Ok(before)
    }

    /// Returns what was noted of the thread before a run, with the checkpoint at which it was.
    pub(super) fn noted(base: &Base, head: CheckpointId) -> serde_json::Result<Self> {
        if let Some(noted) = &base.before {
            return serde_json::from_str(noted);
        }
        let root = LogEnd {
            namespace: Vec::new(),
            head,
            records: None,
            base: None,
        };
        Ok(Self {
            logs: vec![root],
            ..Self::default()
        })
    }

    /// Returns what the row of the thread says again.
    pub(super) fn row(&self) -> ThreadStatusUpdate<'_> {
        ThreadStatusUpdate {
            error: self.error.clone(),
            ..ThreadStatusUpdate::new(&self.status)
        }
    }

    /// Removes what was stored since.
    pub(super) async fn restore(
        &self,
        saver: &dyn Checkpointer,
        thread: &str,
    ) -> Result<(), CheckpointError> {
        let administration = saver.administration_for(ROLLBACK)?;
        let mut logs = outer_first(administration.logs(thread).await?);
        // The log of the thread is the last.
        logs.reverse();
        for key in logs {
            if key.namespace.last().is_some_and(|place| place == SPARE) {
                continue;
            }
            let end = self.logs.iter().find(|end| end.namespace == key.namespace);
            if let Some(end) = end {
                self.cut(saver, &key, end).await?;
            } else if self.is_new(&key.namespace) {
                administration.delete_log(&key).await?;
            }
        }
        Ok(())
    }

    /// Returns true for the log of the thread, of a subgraph that the thread keeps, and of a subgraph that a task
    /// of the last checkpoint above it has called.
    fn is_open(&self, namespace: &[String]) -> bool {
        let Some((place, above)) = namespace.split_last() else {
            return true;
        };
        let end = self.logs.iter().find(|end| end.namespace == above);
        end.is_some_and(|end| match ThreadKey::checkpoint_of(place) {
            Some(checkpoint) => checkpoint == end.head,
            None => true,
        })
    }

    /// Returns true for a log that was not there before.
    fn is_new(&self, namespace: &[String]) -> bool {
        let above = self.logs.iter().rev();
        let mut above = above.filter(|end| namespace.starts_with(&end.namespace));
        let Some(end) = above.next() else {
            return false;
        };
        let place = namespace.get(end.namespace.len());
        match place.and_then(|place| ThreadKey::checkpoint_of(place)) {
            Some(checkpoint) => checkpoint >= end.head,
            // One that the thread keeps from call to call.
            None => end.records.is_some(),
        }
    }

    /// Removes what a log has got since.
    async fn cut(
        &self,
        saver: &dyn Checkpointer,
        key: &ThreadKey,
        end: &LogEnd,
    ) -> Result<(), CheckpointError> {
        let administration = saver.administration_for(ROLLBACK)?;
        let Some(found) = LastCheckpoint::of(saver, key, end).await? else {
            return Ok(());
        };
        let all = saver.list(key, ListOptions::default()).await?;
        let mut delete: Vec<_> = all.into_iter().filter(|id| *id > end.head).collect();
        let mut batch = found.batch(end);
        // A record cannot be removed alone: the checkpoint is stored again without those that came since.
        let is_stored_again = !batch.checkpoints.is_empty();
        let spare = spare(key);
        if is_stored_again && !found.is_spare {
            let mut kept = batch.clone();
            kept.checkpoints
                .iter_mut()
                .for_each(|last| last.base = None);
            kept.head = saver.head(&spare).await?;
            saver.put(&spare, kept).await?;
            delete.push(end.head);
        }
        if !delete.is_empty() {
            let fold = Vec::new();
            administration.prune(key, Prune { fold, delete }).await?;
        }
        batch.status = self.run;
        batch.wake_at = self.wake_at.filter(|_| key.namespace.is_empty());
        batch.head = saver.head(key).await?;
        saver.put(key, batch).await?;
        if end.records.is_some() {
            administration.delete_log(&spare).await?;
        }
        Ok(())
    }
}

/// The last checkpoint of a log, as it was found before what came since is removed.
struct LastCheckpoint {
    last: Stored,
    owner: Option<Arc<Owner>>,
    /// True if it was kept in the spare log by a process that died.
    is_spare: bool,
}

impl LastCheckpoint {
    async fn of(
        saver: &dyn Checkpointer,
        key: &ThreadKey,
        end: &LogEnd,
    ) -> Result<Option<Self>, CheckpointError> {
        for (is_spare, key) in [(false, key), (true, &spare(key))] {
            let chain = saver.load(key, Some(end.head)).await?;
            if let Some(mut chain) = chain
                && let Some(last) = chain.records.pop()
            {
                let owner = chain.owner;
                return Ok(Some(Self {
                    last,
                    owner,
                    is_spare,
                }));
            }
        }
        Ok(None)
    }

    /// Returns what is stored: the checkpoint as it was, if it is not stored so.
    fn batch(&self, end: &LogEnd) -> Batch {
        let mut batch = Batch {
            owner: self.owner.clone(),
            ..Batch::default()
        };
        let before = end
            .records
            .filter(|before| self.is_spare || *before != Records::of(&self.last));
        if let Some(before) = before {
            let mut last = self.last.clone();
            last.checkpoint.base = end.base;
            last.tasks.truncate(before.tasks);
            last.entries.truncate(before.entries);
            batch.checkpoints = vec![last.checkpoint];
            (batch.tasks, batch.entries) = (last.tasks, last.entries);
        }
        batch
    }
}

/// Returns the log that keeps the last checkpoint while it is stored again. No graph has such a log.
fn spare(key: &ThreadKey) -> ThreadKey {
    let mut spare = key.clone();
    spare.namespace.push(SPARE.to_owned());
    spare
}

const SPARE: &str = "rollback";

/// What needs the administration of threads.
const ROLLBACK: &str = "rolling back a run";

fn outer_first(mut logs: Vec<ThreadKey>) -> Vec<ThreadKey> {
    logs.sort_by_key(|key| key.namespace.len());
    logs
}

impl LogEnd {
    async fn of(saver: &dyn Checkpointer, key: ThreadKey) -> Result<Option<Self>, CheckpointError> {
        let chain = saver.load(&key, None).await?;
        let last = chain.and_then(|mut chain| chain.records.pop());
        Ok(last.map(|last| Self {
            namespace: key.namespace,
            head: last.checkpoint.id,
            base: last.checkpoint.base,
            records: Some(Records::of(&last)),
        }))
    }
}

impl Records {
    fn of(stored: &Stored) -> Self {
        Self {
            tasks: stored.tasks.len(),
            entries: stored.entries.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use langgraph::checkpoint::{CheckpointRecord, TaskOutcome, TaskRecord, forward_checkpointer};
    use langgraph_sqlite::SqliteSaver;

    use super::*;

    /// A saver whose process dies before one of its writes.
    struct Dying {
        saver: SqliteSaver,
        writes_left: AtomicUsize,
    }

    #[async_trait]
    impl Checkpointer for Dying {
        async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
            let left = self.writes_left.load(Ordering::Relaxed);
            self.writes_left
                .store(left.saturating_sub(1), Ordering::Relaxed);
            if left == 0 {
                let thread = key.thread.clone();
                return Err(CheckpointError::LeaseLost { thread });
            }
            self.saver.put(key, batch).await
        }

        forward_checkpointer!(saver);
    }

    /// Stores a checkpoint behind the head of a log.
    async fn store(saver: &SqliteSaver, key: &ThreadKey) -> CheckpointId {
        let head = saver.head(key).await.unwrap();
        let previous = head.map(|head| head.id);
        let mut checkpoint = CheckpointRecord::of_metadata(previous, BTreeMap::new());
        checkpoint.base = previous.map(|id| checkpoint::Base {
            id,
            with_tasks: true,
        });
        let id = checkpoint.id;
        let batch = Batch {
            head,
            checkpoints: vec![checkpoint],
            ..Batch::default()
        };
        saver.put(key, batch).await.unwrap();
        id
    }

    async fn fail_a_task(saver: &SqliteSaver, key: &ThreadKey, text: &str) {
        let head = saver.head(key).await.unwrap();
        let failed = TaskOutcome::Failed(text.to_owned());
        let batch = Batch {
            head,
            tasks: vec![TaskRecord::ended(head.unwrap().id, 0, failed)],
            ..Batch::default()
        };
        saver.put(key, batch).await.unwrap();
    }

    #[tokio::test]
    async fn a_process_that_dies_while_it_rolls_back_loses_no_record() {
        let key = ThreadKey::root("t");
        for writes in 0..=2 {
            let saver = SqliteSaver::in_memory().unwrap();
            let first = store(&saver, &key).await;
            let base = store(&saver, &key).await;
            fail_a_task(&saver, &key, "before").await;
            let before = Before {
                logs: vec![LogEnd::of(&saver, key.clone()).await.unwrap().unwrap()],
                ..Before::default()
            };
            fail_a_task(&saver, &key, "since").await;
            store(&saver, &key).await;

            let dying = Dying {
                saver: saver.clone(),
                writes_left: AtomicUsize::new(writes),
            };
            assert_eq!(before.restore(&dying, "t").await.is_ok(), writes == 2);
            before.restore(&saver, "t").await.unwrap();
            let left = saver.list(&key, ListOptions::default()).await.unwrap();
            assert_eq!(left, [base, first], "{writes}");
            let mut chain = saver.load(&key, None).await.unwrap().unwrap();
            let last = chain.records.pop().unwrap();
            assert_eq!(last.tasks.len(), 1);
            assert_eq!(last.checkpoint.base.unwrap().id, first);
            let logs = saver.administration().unwrap().logs("t").await.unwrap();
            assert_eq!(logs, std::slice::from_ref(&key));
        }
    }
}
