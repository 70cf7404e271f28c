//! A log that the cases write, and its text form.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::administration;
use crate::case::{Problem, same};
use langgraph::checkpoint::{
    Base, Batch, CheckpointId, CheckpointRecord, Checkpointer, Encoded, EntryRecord, Few, Fold,
    Formats, Head, Payload, Source, StatePart, Stored, TaskArgument, TaskOutcome, TaskRecord,
    TaskSpec, ThreadFilter, ThreadKey, ThreadPosition,
};
use langgraph::error::CheckpointError;

/// A value as a payload: savers of values keep it as it is, savers of bytes need not encode it.
pub(super) fn payload(value: &Value) -> Payload {
    Payload::from(Encoded::new("json", 0, value.to_string().into_bytes()))
}

/// A checkpoint whose state is that of `base` plus the updates of its tasks.
pub(super) fn checkpoint(id: CheckpointId, base: Option<CheckpointId>) -> CheckpointRecord {
    CheckpointRecord {
        id,
        base: base.map(|id| Base {
            id,
            with_tasks: true,
        }),
        step: -1,
        source: Source::Loop,
        // In milliseconds, the stored precision.
        created_at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
        tasks: Few::one(TaskSpec::new("work".into(), None)),
        ..CheckpointRecord::of_metadata(base, BTreeMap::new())
    }
}

/// The record that task `task` of a checkpoint ended with `outcome`.
pub(super) fn ended(checkpoint: CheckpointId, task: usize, outcome: TaskOutcome) -> TaskRecord {
    TaskRecord::ended(checkpoint, task, outcome)
}

/// The record that task `task` of a checkpoint wrote `value`.
pub(super) fn finished(checkpoint: CheckpointId, task: usize, value: &Value) -> TaskRecord {
    ended(checkpoint, task, TaskOutcome::Finished(payload(value)))
}

/// The record of an update of a checkpoint from outside.
pub(super) fn entry(checkpoint: CheckpointId, value: &Value) -> EntryRecord {
    EntryRecord {
        checkpoint,
        writes: payload(value),
        tasks: Vec::new(),
        order: Vec::new(),
    }
}

/// A log under test.
pub(super) struct Log {
    pub(super) saver: Arc<dyn Checkpointer>,
    pub(super) key: ThreadKey,
    pub(super) head: Option<Head>,
}

impl Log {
    /// The root graph's log of a new thread.
    pub(super) fn root(saver: &Arc<dyn Checkpointer>, thread: &str) -> Self {
        Self::at(saver, ThreadKey::root(thread))
    }

    pub(super) fn at(saver: &Arc<dyn Checkpointer>, key: ThreadKey) -> Self {
        Self {
            saver: Arc::clone(saver),
            key,
            head: None,
        }
    }

    /// An id for the next checkpoint.
    pub(super) fn next_id(&self) -> CheckpointId {
        CheckpointId::after(self.head.map(|head| head.id))
    }

    /// The newest checkpoint.
    pub(super) fn newest(&self) -> Result<CheckpointId, Problem> {
        let head = self
            .head
            .ok_or_else(|| Problem::Wrong("no checkpoint".to_owned()))?;
        Ok(head.id)
    }

    /// Stores a batch after the last one.
    pub(super) async fn put(&mut self, mut batch: Batch) -> Result<(), CheckpointError> {
        batch.head = self.head;
        let head = batch.next_head();
        self.saver.put(&self.key, batch).await?;
        self.head = head;
        Ok(())
    }

    /// Stores a checkpoint that is based on the newest one, without its tasks, after `change`.
    pub(super) async fn step(
        &mut self,
        change: impl FnOnce(&mut CheckpointRecord),
    ) -> Result<CheckpointId, Problem> {
        let base = self.head.map(|head| head.id);
        let id = self.next_id();
        let mut record = checkpoint(id, base);
        if let Some(base) = &mut record.base {
            base.with_tasks = false;
        }
        change(&mut record);
        self.put(Batch {
            checkpoints: vec![record],
            ..Batch::default()
        })
        .await?;
        Ok(id)
    }

    /// Adds this many supersteps, each of which writes its number.
    pub(super) async fn grow(&mut self, supersteps: i64) -> Result<Vec<CheckpointId>, Problem> {
        let mut ids = vec![self.step(|first| first.source = Source::Input).await?];
        for step in 0..supersteps {
            let before = self.newest()?;
            let id = self.next_id();
            let mut record = checkpoint(id, Some(before));
            record.step = step;
            self.put(Batch {
                checkpoints: vec![record],
                tasks: vec![finished(before, 0, &json!(step))],
                ..Batch::default()
            })
            .await?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// Returns the ancestry of a checkpoint, or of the newest one, as text.
    pub(super) async fn chain(&self, id: Option<CheckpointId>) -> Result<Vec<String>, Problem> {
        chain(&*self.saver, &self.key, id).await
    }

    /// Returns the ids of an ancestry.
    pub(super) async fn links(
        &self,
        id: Option<CheckpointId>,
    ) -> Result<Vec<CheckpointId>, Problem> {
        let chain = self.saver.load(&self.key, id).await?;
        let records = chain.map(|chain| chain.records).unwrap_or_default();
        Ok(records.iter().map(|stored| stored.checkpoint.id).collect())
    }

    /// Returns the values that tasks and updates wrote in an ancestry, oldest checkpoint first.
    pub(super) async fn values(&self, id: Option<CheckpointId>) -> Result<Vec<Value>, Problem> {
        let chain = self.saver.load(&self.key, id).await?;
        let records = chain.map(|chain| chain.records).unwrap_or_default();
        let mut values = Vec::new();
        for stored in records {
            for task in stored.tasks {
                if let Some(TaskOutcome::Finished(done)) = task.outcome {
                    values.push(value(done)?);
                }
            }
            for entry in stored.entries {
                values.push(value(entry.writes)?);
            }
        }
        Ok(values)
    }

    /// Fails the case unless the saver's head is the writer's last checkpoint.
    pub(super) async fn head_is_known(&self) -> Result<(), Problem> {
        same("the head", self.saver.head(&self.key).await?, self.head)
    }
}

/// Returns the value of a payload.
pub(super) fn value(payload: Payload) -> Result<Value, Problem> {
    let encoded = payload.encode(&Formats::default());
    let encoded = encoded.map_err(|error| Problem::Wrong(error.to_string()))?;
    serde_json::from_slice(&encoded.bytes).map_err(|error| Problem::Wrong(error.to_string()))
}

/// Returns the ancestry of a checkpoint as text.
pub(super) async fn chain(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    id: Option<CheckpointId>,
) -> Result<Vec<String>, Problem> {
    match saver.load(key, id).await? {
        None => Ok(vec!["no log".to_owned()]),
        Some(chain) => text(chain.records),
    }
}

/// Returns the result of [`load_state`](Checkpointer::load_state) for a checkpoint, as text.
pub(super) async fn state(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    id: Option<CheckpointId>,
) -> Result<Vec<String>, Problem> {
    let mut parts = Vec::new();
    let mut visit = |part| parts.push(part);
    let position = saver.load_state(key, id, &mut visit).await?;
    position_text(parts, position)
}

/// Returns the same as [`state`], computed from the result of `load`.
pub(super) async fn state_of_chain(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    id: Option<CheckpointId>,
) -> Result<Vec<String>, Problem> {
    let mut parts = Vec::new();
    let chain = saver.load(key, id).await?;
    let position = chain.map(|chain| chain.visit_parts(&mut |part| parts.push(part)));
    position_text(parts, position)
}

fn position_text(
    parts: Vec<StatePart>,
    position: Option<ThreadPosition>,
) -> Result<Vec<String>, Problem> {
    let Some(position) = position else {
        return Ok(vec!["no log".to_owned()]);
    };
    let mut lines = vec![format!("head {:?}", position.head)];
    for part in parts {
        lines.push(match part {
            StatePart::Snapshot(state) => format!("snapshot {}", value(state)?),
            StatePart::Entry(writes) => format!("entry {}", value(writes)?),
            StatePart::Task(written) => format!("tasks [{}]", value(written)?),
            StatePart::Tasks(written) => {
                let values: Result<_, _> = written.into_iter().map(value).collect();
                format!("tasks {}", Value::Array(values?))
            }
        });
    }
    lines.extend(text(position.checkpoint.into_iter().collect())?);
    Ok(lines)
}

/// Returns records as text: a line for each record, and for each of their values.
pub(super) fn text(records: Vec<Stored>) -> Result<Vec<String>, Problem> {
    let mut lines = Vec::new();
    for stored in records {
        let mut checkpoint = stored.checkpoint;
        if checkpoint.log_bytes > 0 {
            checkpoint.since_snapshot = 0;
        }
        lines.push(format!("{checkpoint:?}"));
        let mut values: Vec<_> = checkpoint.snapshot.into_iter().collect();
        values.extend(arguments(checkpoint.tasks));
        for task in stored.tasks {
            lines.push(format!("{task:?}"));
            if let Some(TaskOutcome::Finished(done) | TaskOutcome::Ran(done)) = task.outcome {
                values.push(done);
            }
        }
        for entry in stored.entries {
            lines.push(format!("{entry:?}"));
            values.push(entry.writes);
            values.extend(arguments(entry.tasks));
        }
        for value in values {
            let encoded = value.encode(&Formats::default());
            let encoded = encoded.map_err(|error| Problem::Wrong(error.to_string()))?;
            lines.push(format!("{encoded:?}"));
        }
    }
    Ok(lines)
}

fn arguments(tasks: impl IntoIterator<Item = TaskSpec>) -> impl Iterator<Item = Payload> {
    let arguments = tasks.into_iter().filter_map(|task| task.argument);
    arguments.map(|argument| match argument {
        TaskArgument::Item(value) | TaskArgument::State(value) => value,
    })
}

/// Returns the key of a subgraph's log.
pub(super) fn subgraph_key(thread: &str, labels: &[&str]) -> ThreadKey {
    ThreadKey {
        thread: thread.into(),
        namespace: labels.iter().map(|label| (*label).to_owned()).collect(),
    }
}

/// Returns the names of the threads that a filter selects.
pub(super) async fn thread_names(log: &Log, filter: ThreadFilter) -> Result<Vec<String>, Problem> {
    let threads = administration(&log.saver)?.threads(filter).await?;
    Ok(threads.into_iter().map(|info| info.thread).collect())
}

/// Folds the branch up to a checkpoint into a snapshot.
pub(super) fn fold(id: CheckpointId) -> Fold {
    Fold {
        id,
        snapshot: payload(&json!("folded")),
        ran: vec!["a".into(), "b".into()],
        joined: vec!["c".into()],
    }
}
