//! How a thread stood before a run, and the way back to it.

use std::time::SystemTime;

use langgraph::checkpoint::{
    CheckpointId, Checkpointer, Rewind, RunStatus, Stored, ThreadFilter, ThreadKey,
};
use langgraph::error::CheckpointError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kept_logs::{end_at, is_kept};
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LogEnd {
    namespace: Vec<String>,
    head: CheckpointId,
    /// How many records its last checkpoint had; `None` if none can have come since.
    records: Option<Records>,
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
        Ok(Self {
            logs: vec![LogEnd::whole(Vec::new(), head)],
            ..Self::default()
        })
    }

    /// Returns how the thread stood before a run, if nothing was stored there since.
    pub(super) async fn if_unchanged(
        app: &App,
        thread: &str,
        base: &Base,
    ) -> ApiResult<Option<Self>> {
        let root = ThreadKey::root(thread);
        let now = app.saver.plain().head(&root).await?;
        let Ok(head) = base.checkpoint.parse() else {
            return Ok(now.is_none().then(Self::default));
        };
        let before = Self::noted(base, head)?;
        let is_unchanged = match before.noted_alone() {
            Some(head) => now.is_some_and(|now| now.id == head),
            None => Self::of(app, thread).await?.logs == before.logs,
        };
        Ok(is_unchanged.then_some(before))
    }

    /// Returns what the row of the thread says again.
    pub(super) fn row(&self) -> ThreadStatusUpdate<'_> {
        ThreadStatusUpdate {
            error: self.error.clone(),
            is_as_before: true,
            ..ThreadStatusUpdate::new(&self.status)
        }
    }

    /// Removes what was stored since. If its process is lost meanwhile, another one removes the rest.
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
            let noted = self.logs.iter().find(|end| end.namespace == key.namespace);
            let end = match (noted, self.noted_alone()) {
                (Some(end), _) => Some(end.clone()),
                (None, Some(head)) if is_kept(&key) => {
                    let to = end_at(saver, &key, head).await?;
                    to.map(|to| LogEnd::whole(key.namespace.clone(), to))
                }
                (None, _) if self.is_new(&key.namespace) => None,
                (None, _) => continue,
            };
            match end {
                Some(end) => drop(administration.rewind(&key, self.rewind(&end)).await?),
                None => administration.delete_log(&key).await?,
            }
        }
        Ok(())
    }

    /// Returns the last checkpoint of the thread, if nothing else was noted.
    fn noted_alone(&self) -> Option<CheckpointId> {
        match &*self.logs {
            [end] if end.records.is_none() => Some(end.head),
            _ => None,
        }
    }

    /// Returns how a log ends again.
    fn rewind(&self, end: &LogEnd) -> Rewind {
        let Records { tasks, entries } = end.records.unwrap_or(Records::ALL);
        Rewind {
            to: end.head,
            tasks,
            entries,
            status: self.run,
            wake_at: self.wake_at.filter(|_| end.namespace.is_empty()),
        }
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
}

/// What needs the administration of threads.
const ROLLBACK: &str = "rolling back a run";

fn outer_first(mut logs: Vec<ThreadKey>) -> Vec<ThreadKey> {
    logs.sort_by_key(|key| key.namespace.len());
    logs
}

impl LogEnd {
    /// The end of a log whose last checkpoint keeps all its records.
    fn whole(namespace: Vec<String>, head: CheckpointId) -> Self {
        Self {
            namespace,
            head,
            records: None,
        }
    }

    async fn of(saver: &dyn Checkpointer, key: ThreadKey) -> Result<Option<Self>, CheckpointError> {
        let chain = saver.load(&key, None).await?;
        let last = chain.and_then(|mut chain| chain.records.pop());
        Ok(last.map(|last| Self {
            namespace: key.namespace,
            head: last.checkpoint.id,
            records: Some(Records::of(&last)),
        }))
    }
}

impl Records {
    const ALL: Self = Self {
        tasks: usize::MAX,
        entries: usize::MAX,
    };

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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use langgraph::checkpoint::{
        Base, Batch, CheckpointRecord, ListOptions, TaskOutcome, TaskRecord,
    };
    use langgraph_sqlite::SqliteSaver;
    use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};

    use super::*;

    /// A process that dies before one of its calls of the administration.
    struct Dying {
        calls_left: AtomicUsize,
    }

    impl Intercept for Dying {
        async fn around<T: Send>(
            &self,
            call: SaverCall<'_>,
            run: impl Future<Output = Result<T, CheckpointError>> + Send,
        ) -> Result<T, CheckpointError> {
            if matches!(call, SaverCall::Administration) {
                let left = self.calls_left.load(Ordering::Relaxed);
                if left == 0 {
                    return Err(CheckpointError::storage("the process is gone"));
                }
                self.calls_left.store(left - 1, Ordering::Relaxed);
            }
            run.await
        }
    }

    /// Stores a checkpoint behind the head of a log.
    async fn store(saver: &SqliteSaver, key: &ThreadKey) -> CheckpointId {
        let head = saver.head(key).await.unwrap();
        let previous = head.map(|head| head.id);
        let mut checkpoint = CheckpointRecord::of_metadata(previous, BTreeMap::new());
        checkpoint.base = previous.map(|id| Base {
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

    /// Returns the records of each log of the thread.
    async fn records(saver: &SqliteSaver) -> BTreeMap<ThreadKey, String> {
        let mut all = BTreeMap::new();
        for key in saver.administration().unwrap().logs("t").await.unwrap() {
            let list = saver.list(&key, ListOptions::default()).await.unwrap();
            let chain = saver.load(&key, None).await.unwrap().unwrap();
            all.insert(key, format!("{list:?} {:?}", chain.records));
        }
        all
    }

    /// A thread with an open call, of a subgraph that it keeps, and of one that it does not.
    async fn thread(saver: &SqliteSaver) -> [ThreadKey; 3] {
        let root = ThreadKey::root("t");
        store(saver, &root).await;
        let head = store(saver, &root).await;
        let keys = [
            root.below(head, 0, "work", 0),
            ThreadKey::per_thread("t", "memory"),
            root,
        ];
        for key in &keys {
            if !key.namespace.is_empty() {
                store(saver, key).await;
            }
            fail_a_task(saver, key, "before").await;
        }
        keys
    }

    #[tokio::test]
    async fn a_process_that_dies_between_the_logs_of_a_thread_loses_no_record() {
        let mut calls = 0;
        loop {
            let saver = SqliteSaver::in_memory().unwrap();
            let keys = thread(&saver).await;
            let mut before = Before::default();
            for key in outer_first(keys.to_vec()) {
                before.logs.extend(LogEnd::of(&saver, key).await.unwrap());
            }
            let expected = records(&saver).await;
            for key in &keys {
                fail_a_task(&saver, key, "since").await;
                store(&saver, key).await;
            }
            let head = saver.head(&keys[2]).await.unwrap().unwrap().id;
            store(&saver, &keys[2].below(head, 0, "work", 0)).await;
            store(&saver, &ThreadKey::per_thread("t", "new")).await;

            let dying = Dying {
                calls_left: AtomicUsize::new(calls),
            };
            let dying = InterceptedSaver::new(Arc::new(saver.clone()), dying);
            let is_restored = before.restore(&dying, "t").await.is_ok();
            before.restore(&saver, "t").await.unwrap();
            assert_eq!(records(&saver).await, expected, "{calls}");
            // One call for the list of the logs, and one for each log.
            assert_eq!(is_restored, calls == 6);
            if is_restored {
                break;
            }
            calls += 1;
        }
    }
}
