//! What the saver has acknowledged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph::checkpoint::{Batch, CheckpointId, Source, TaskOutcome, ThreadKey};

/// The acknowledged records of a seed. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Acknowledged(Arc<Mutex<Records>>);

#[derive(Default)]
pub(super) struct Records {
    pub(super) checkpoints: BTreeMap<ThreadKey, BTreeSet<CheckpointId>>,
    /// The tasks that have ended, and the calls that have begun by then.
    ended: HashMap<TaskKey, u32>,
    /// The checkpoints all of whose tasks have ended.
    left: HashMap<(String, CheckpointId), u32>,
}

/// A task: its thread, its checkpoint, and its number.
type TaskKey = (String, CheckpointId, usize);

impl Acknowledged {
    pub(super) fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a batch that was acknowledged, after so many calls have begun.
    pub(super) fn add(&self, key: &ThreadKey, batch: &Batch, calls: u32) {
        let mut records = self.records();
        for checkpoint in &batch.checkpoints {
            let ids = records.checkpoints.entry(key.clone()).or_default();
            ids.insert(checkpoint.id);
            if let (Source::Loop, Some(parent), true) = (
                checkpoint.source,
                checkpoint.parent,
                key.namespace.is_empty(),
            ) {
                let left = (key.thread.clone(), parent);
                records.left.entry(left).or_insert(calls);
            }
        }
        for task in &batch.tasks {
            let ended = matches!(
                task.outcome,
                Some(TaskOutcome::Finished(_) | TaskOutcome::Ran(_))
            );
            if ended && key.namespace.is_empty() {
                let key = (key.thread.clone(), task.checkpoint, task.task);
                records.ended.entry(key).or_insert(calls);
            }
        }
    }

    /// Returns true if the task had ended before the call began. `identity` is what
    /// [`idempotency_key`](langgraph::Context::idempotency_key) returns.
    pub(super) fn had_ended(&self, thread: &str, identity: &str, call: u32) -> bool {
        let mut parts = identity.rsplit(':');
        let task = parts.next().and_then(|task| task.parse().ok());
        let checkpoint = parts.next().and_then(|id| id.parse().ok());
        let (Some(task), Some(checkpoint)) = (task, checkpoint) else {
            return false;
        };
        let records = self.records();
        let ended = records.ended.get(&(thread.to_owned(), checkpoint, task));
        let left = records.left.get(&(thread.to_owned(), checkpoint));
        [ended, left]
            .into_iter()
            .flatten()
            .any(|calls| *calls < call)
    }
}

/// Describes the records of a batch.
pub(super) fn describe(batch: &Batch) -> String {
    let mut text = String::new();
    let mut add = |record: std::fmt::Arguments<'_>| {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{record}");
    };
    for checkpoint in &batch.checkpoints {
        match &checkpoint.ran[..] {
            [] => add(format_args!("checkpoint of step {}", checkpoint.step)),
            ran => add(format_args!(
                "checkpoint of step {} after `{}`",
                checkpoint.step,
                ran.join("`, `")
            )),
        }
    }
    for task in &batch.tasks {
        let number = task.task;
        match &task.outcome {
            Some(TaskOutcome::Finished(_) | TaskOutcome::Ran(_)) => {
                add(format_args!("result of task {number}"));
            }
            Some(TaskOutcome::Interrupted(_)) => add(format_args!("interrupt of task {number}")),
            Some(TaskOutcome::Failed(error)) => {
                add(format_args!("error of task {number}: {error}"));
            }
            None => {}
        }
        for once in &task.once {
            add(format_args!("`{}` done once", once.key));
        }
        for answer in &task.answers {
            add(format_args!("answer to `{}`", answer.key));
        }
    }
    if text.is_empty() {
        text.push_str("status of the run");
    }
    text
}
