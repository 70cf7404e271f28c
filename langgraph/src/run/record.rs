//! Writing a run to its thread's log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::execute::Ended;
use super::machine::{Machine, Task};
use crate::AgentError;
use crate::checkpoint::{
    AskedQuestions, Base, Batch, CheckpointId, CheckpointRecord, Checkpointer, EntryRecord,
    JoinRecord, Payload, Snapshot, Source, TaskArgument, TaskOutcome, TaskRecord, TaskSnapshot,
    TaskSpec, ThreadKey,
};
use crate::graph::START;
use crate::graph::plan::Plan;
use crate::node::{Answer, Argument, Place, Write};
use crate::state::State;

/// Snapshots are at least that many records apart.
const SNAPSHOT_EVERY: usize = 16;

/// The end of a log at which a run writes.
pub(super) struct Recorder {
    saver: Arc<dyn Checkpointer>,
    key: Arc<ThreadKey>,
    /// The head of the log as this run knows it.
    head: Option<CheckpointId>,
    /// The checkpoint whose tasks run.
    current: Option<CheckpointId>,
    parent: Option<CheckpointId>,
    source: Source,
    since_snapshot: usize,
    /// False for a log that is always read from its beginning.
    snapshots: bool,
    metadata: BTreeMap<String, Value>,
    /// Records that wait to be stored with the next checkpoint.
    tasks: Vec<TaskRecord>,
    entries: Vec<EntryRecord>,
}

/// Where a new checkpoint comes from.
pub(super) struct Origin {
    pub(super) parent: Option<CheckpointId>,
    pub(super) base: Option<Base>,
    pub(super) source: Source,
}

impl Recorder {
    pub(super) fn new(
        saver: Arc<dyn Checkpointer>,
        key: ThreadKey,
        metadata: BTreeMap<String, Value>,
    ) -> Self {
        Self {
            saver,
            key: Arc::new(key),
            snapshots: true,
            head: None,
            current: None,
            parent: None,
            source: Source::Input,
            since_snapshot: 0,
            metadata,
            tasks: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Goes on behind `current` in a log whose head is `head`.
    pub(super) fn resume(&mut self, head: Option<CheckpointId>, current: &CheckpointRecord) {
        self.head = head;
        self.current = Some(current.id);
        self.parent = current.parent;
        self.source = current.source;
        self.since_snapshot = current.since_snapshot;
    }

    /// Stores no snapshots: whoever reads the log wants every write.
    pub(super) fn without_snapshots(mut self) -> Self {
        self.snapshots = false;
        self
    }

    /// Where a task of the current checkpoint stands.
    pub(super) fn place(&self, task: usize) -> Option<Place> {
        Some(Place {
            saver: Arc::clone(&self.saver),
            key: Arc::clone(&self.key),
            checkpoint: self.current?,
            task,
        })
    }

    pub(super) fn current(&self) -> Option<CheckpointId> {
        self.current
    }

    /// Keeps how a task ended, to be stored with the next checkpoint.
    pub(super) fn keep<S: State>(&mut self, task: usize, ended: &Ended<S>) {
        if let Some(checkpoint) = self.current {
            if let Ended::Asked {
                ran: Some(done), ..
            } = ended
            {
                self.tasks.push(TaskRecord {
                    checkpoint,
                    task,
                    outcome: Some(TaskOutcome::Ran(Payload::of(done.clone()))),
                    answers: Vec::new(),
                });
            }
            let outcome = Some(outcome(ended));
            self.tasks.push(TaskRecord {
                checkpoint,
                task,
                outcome,
                answers: Vec::new(),
            });
        }
    }

    /// Keeps answers for a task.
    pub(super) fn keep_answers(&mut self, task: usize, answers: Vec<Answer>) {
        if let Some(checkpoint) = self.current {
            self.tasks.push(TaskRecord {
                checkpoint,
                task,
                outcome: None,
                answers,
            });
        }
    }

    /// Keeps what a command from outside writes and starts at the current checkpoint.
    pub(super) fn keep_entry<S: State>(&mut self, writes: Vec<Write<S>>, tasks: Vec<TaskSpec>) {
        if writes.is_empty() && tasks.is_empty() {
            return;
        }
        if let Some(checkpoint) = self.current {
            self.entries.push(EntryRecord {
                checkpoint,
                writes: Payload::of(writes),
                tasks,
            });
        }
    }

    /// Stores what is kept.
    pub(super) async fn flush(&mut self) -> Result<(), AgentError> {
        if self.tasks.is_empty() && self.entries.is_empty() {
            return Ok(());
        }
        let batch = Batch {
            head: self.head,
            checkpoints: Vec::new(),
            tasks: std::mem::take(&mut self.tasks),
            entries: std::mem::take(&mut self.entries),
        };
        Ok(self.saver.put(&self.key, batch).await?)
    }

    /// Stores a checkpoint, and with it what is kept for the one before.
    pub(super) async fn checkpoint(
        &mut self,
        mut record: CheckpointRecord,
        entry: Option<Payload>,
    ) -> Result<(), AgentError> {
        record.id = CheckpointId::after(self.head);
        record.metadata.clone_from(&self.metadata);
        let (id, parent, source, since) = (
            record.id,
            record.parent,
            record.source,
            record.since_snapshot,
        );
        let mut entries = std::mem::take(&mut self.entries);
        entries.extend(entry.map(|writes| EntryRecord {
            checkpoint: id,
            writes,
            tasks: Vec::new(),
        }));
        let batch = Batch {
            head: self.head,
            checkpoints: vec![record],
            tasks: std::mem::take(&mut self.tasks),
            entries,
        };
        self.saver.put(&self.key, batch).await?;
        self.head = Some(id);
        self.current = Some(id);
        self.parent = parent;
        self.source = source;
        self.since_snapshot = since;
        Ok(())
    }
}

fn outcome<S: State>(ended: &Ended<S>) -> TaskOutcome {
    match ended {
        Ended::Finished(done) => TaskOutcome::Finished(Payload::of(done.clone())),
        Ended::Asked { questions, .. } => TaskOutcome::Asked(AskedQuestions(questions.clone())),
        Ended::Failed(error) => TaskOutcome::Failed(error.to_string()),
    }
}

impl<S: State> Machine<S> {
    /// Stores how one of several tasks ended, as soon as it has.
    pub(super) async fn record_ended(
        &mut self,
        task: usize,
        ended: &Ended<S>,
    ) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => {
                recorder.keep(task, ended);
                recorder.flush().await
            }
        }
    }

    /// Notes how the only task of a superstep ended; it is stored with the next checkpoint, or now
    /// if there will be none.
    pub(super) async fn keep_ended(&mut self, ended: &Ended<S>) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => {
                recorder.keep(0, ended);
                match ended {
                    Ended::Finished(_) => Ok(()),
                    _ => recorder.flush().await,
                }
            }
        }
    }

    /// Stores the checkpoint behind a superstep.
    pub(super) async fn record_superstep(&mut self) -> Result<(), AgentError> {
        let Some(current) = self.recorder.as_ref().map(|recorder| recorder.current) else {
            return Ok(());
        };
        let base = current.map(|id| Base {
            id,
            with_tasks: true,
        });
        self.record(
            Origin {
                parent: current,
                base,
                source: Source::Loop,
            },
            None,
        )
        .await
    }

    /// Stores a checkpoint of where the run stands.
    pub(super) async fn record(
        &mut self,
        origin: Origin,
        entry: Option<Payload>,
    ) -> Result<(), AgentError> {
        let Some(recorder) = &self.recorder else {
            return Ok(());
        };
        let step = usize::try_from(self.step).unwrap_or(0);
        // The further apart, the longer the thread: writing stays amortised O(what changed).
        let due = recorder.snapshots && recorder.since_snapshot >= SNAPSHOT_EVERY.max(step / 2);
        let snapshot = (due && origin.source == Source::Loop).then(|| {
            let mut state = S::clone(&self.state);
            if !self.plan.fields.untracked.is_empty() {
                state.reset(&self.plan.fields.untracked);
            }
            Payload::of(state)
        });
        let record = CheckpointRecord {
            id: CheckpointId::after(None),
            parent: origin.parent,
            base: origin.base,
            step: self.step,
            source: origin.source,
            created_at: SystemTime::now(),
            tasks: self
                .frontier
                .iter()
                .map(|task| spec(&self.plan, task))
                .collect(),
            joins: self.join_records(),
            deferred: self
                .deferred
                .iter()
                .map(|node| self.plan.name(*node))
                .collect(),
            since_snapshot: if snapshot.is_some() {
                0
            } else {
                recorder.since_snapshot + 1
            },
            snapshot,
            ran: Vec::new(),
            metadata: BTreeMap::new(),
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.checkpoint(record, entry).await?;
        }
        self.tell_checkpoint().await;
        Ok(())
    }

    fn join_records(&self) -> Vec<JoinRecord> {
        let seen = self
            .joins
            .iter()
            .zip(&self.plan.topology_joins)
            .filter(|(seen, _)| seen.count > 0);
        let records = seen.map(|(seen, (sources, target))| JoinRecord {
            sources: sources.clone(),
            target: Arc::clone(target),
            seen: sources
                .iter()
                .enumerate()
                .filter(|(i, _)| seen.sources.contains(*i))
                .map(|(_, s)| Arc::clone(s))
                .collect(),
        });
        records.collect()
    }

    /// The checkpoint at which the run stands.
    pub(super) fn snapshot(&self) -> Option<Snapshot<S>> {
        let recorder = self.recorder.as_ref()?;
        let names: Vec<_> = self
            .frontier
            .iter()
            .map(|task| self.plan.node_name(task.node))
            .collect();
        let task = |task: &Task<S>| TaskSnapshot {
            node: self.plan.node_name(task.node),
            sent: task.argument.is_some(),
            result: None,
            error: None,
            interrupts: Vec::new(),
        };
        Some(Snapshot {
            id: recorder.current?,
            parent: recorder.parent,
            values: S::clone(&self.state),
            tasks: self.frontier.iter().map(task).collect(),
            next: names,
            step: self.step,
            source: recorder.source,
            created_at: SystemTime::now(),
            interrupts: Vec::new(),
            unfilled_joins: self.unfilled_joins(),
            metadata: recorder.metadata.clone(),
        })
    }
}

pub(super) fn spec<S: State>(plan: &Plan<S>, task: &Task<S>) -> TaskSpec {
    let argument = task.argument.as_ref().map(|argument| match argument {
        Argument::Item(item) => TaskArgument::Item(Payload::of(Arc::clone(item))),
        Argument::State(state) => TaskArgument::State(Payload::of(Arc::clone(state))),
    });
    let node = if task.node < plan.names.len() {
        plan.name(task.node)
    } else {
        START.into()
    };
    TaskSpec { node, argument }
}
