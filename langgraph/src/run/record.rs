//! Writing a run to its thread's log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::coder::Coder;
use super::ended::{Done, Ended};
use super::machine::{Machine, Seen};
use super::task::Task;
use super::tip::Tip;
use crate::AgentError;
use crate::checkpoint::{
    AskedQuestions, Base, Batch, CheckpointError, CheckpointId, CheckpointRecord, EntryRecord,
    JoinRecord, Payload, Snapshot, Source, TaskArgument, TaskOutcome, TaskRecord, TaskSnapshot,
    TaskSpec,
};
use crate::graph::NodeName;
use crate::graph::START;
use crate::graph::plan::Plan;
use crate::node::{Answer, Argument, Place, Write};
use crate::state::State;

/// Snapshots of values are at least that many records apart.
const SNAPSHOT_EVERY: usize = 16;

/// A log of bytes shorter than this is read as it is.
const SHORT_LOG: u64 = 4096;

/// What a record takes beside its payload, about.
const RECORD: u64 = 64;

/// The end of a log at which a run writes.
pub(super) struct Recorder<S: State> {
    tip: Arc<Tip>,
    coder: Arc<Coder<S>>,
    /// The checkpoint whose tasks run.
    current: Option<CheckpointId>,
    /// Those of its tasks whose nodes had another name then.
    called_before: Vec<(usize, NodeName)>,
    parent: Option<CheckpointId>,
    source: Source,
    since_snapshot: usize,
    /// Bytes since a snapshot, and how many of them make it time to measure the state.
    log_bytes: u64,
    measure_at: u64,
    snapshots: Snapshots,
    /// The call of a graph that is kept from call to call.
    call: Option<Arc<str>>,
    /// True when no run goes on behind what is stored.
    pub(super) at_rest: bool,
    /// True while the log says that a run is under way.
    running: bool,
    metadata: BTreeMap<String, Value>,
    /// Records that wait to be stored with the next checkpoint.
    tasks: Vec<TaskRecord>,
    entries: Vec<EntryRecord>,
    /// What is known of the tasks of the next checkpoint, to be stored with it.
    known: Vec<(usize, TaskOutcome)>,
}

/// Where a log may have snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Snapshots {
    /// Behind any superstep.
    Anywhere,
    /// Before inputs: whoever reads the log wants every write since.
    AtInputs,
    /// Whoever reads the log wants every write.
    Never,
}

/// Where a new checkpoint comes from.
pub(super) struct Origin {
    pub(super) parent: Option<CheckpointId>,
    pub(super) base: Option<Base>,
    pub(super) source: Source,
}

impl<S: State> Recorder<S> {
    pub(super) fn new(
        tip: Arc<Tip>,
        coder: Arc<Coder<S>>,
        metadata: BTreeMap<String, Value>,
    ) -> Self {
        Self {
            tip,
            coder,
            snapshots: Snapshots::Anywhere,
            call: None,
            current: None,
            called_before: Vec::new(),
            parent: None,
            source: Source::Input,
            since_snapshot: 0,
            log_bytes: 0,
            measure_at: SHORT_LOG,
            at_rest: false,
            running: false,
            metadata,
            tasks: Vec::new(),
            entries: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Goes on behind `current`.
    pub(super) fn resume(&mut self, current: &CheckpointRecord) {
        self.current = Some(current.id);
        self.parent = current.parent;
        self.source = current.source;
        self.since_snapshot = current.since_snapshot;
        self.log_bytes = current.log_bytes;
        self.measure_at = current.measure_at.max(SHORT_LOG);
    }

    pub(super) fn within(mut self, snapshots: Snapshots, call: Option<Arc<str>>) -> Self {
        self.snapshots = snapshots;
        self.call = call;
        self
    }

    /// Where a task of the current checkpoint stands.
    pub(super) fn place(&self, task: usize) -> Option<Place> {
        Some(Place {
            tip: Arc::clone(&self.tip),
            checkpoint: self.current?,
            task,
            called_before: self
                .called_before
                .iter()
                .find(|(index, _)| *index == task)
                .map(|(_, name)| Arc::clone(name)),
        })
    }

    /// Remembers the stored names of the current tasks: logs below them have these in their names.
    pub(super) fn called_before<'n>(
        &mut self,
        names: impl Iterator<Item = &'n NodeName>,
        plan: &Plan<S>,
    ) {
        let names = names.enumerate();
        let renamed = names.filter(|&(_, name)| plan.renamed(name) != *name);
        self.called_before = renamed
            .map(|(index, name)| (index, Arc::clone(name)))
            .collect();
    }

    pub(super) fn current(&self) -> Option<CheckpointId> {
        self.current
    }

    /// Keeps how a task ended, to be stored with the next checkpoint.
    pub(super) fn keep(
        &mut self,
        task: usize,
        node: usize,
        ended: &Ended<S>,
    ) -> Result<(), CheckpointError> {
        let Some(checkpoint) = self.current else {
            return Ok(());
        };
        let done = |done| self.done(node, done);
        let (ran, outcome) = match ended {
            Ended::Finished(finished) => (None, TaskOutcome::Finished(done(finished)?)),
            Ended::Asked { questions, ran, .. } => (
                ran.as_ref().map(done).transpose()?,
                TaskOutcome::Asked(AskedQuestions(questions.clone())),
            ),
            Ended::Failed(error) => (None, TaskOutcome::Failed(error.to_string())),
        };
        let outcomes = ran.map(TaskOutcome::Ran).into_iter().chain([outcome]);
        self.tasks.extend(outcomes.map(|outcome| TaskRecord {
            checkpoint,
            task,
            outcome: Some(outcome),
            answers: Vec::new(),
            once: Vec::new(),
        }));
        Ok(())
    }

    /// What a task did, as it is stored.
    fn done(&self, node: usize, done: &Done<S>) -> Result<Payload, CheckpointError> {
        let payload = self.coder.done(node, done.clone());
        let what = || format!("what node `{}` wrote", self.coder.plan.node_name(node));
        self.tip.encode(payload, what)
    }

    /// Keeps an input for the checkpoint that begins with it: they are stored together, or not at
    /// all.
    pub(super) fn keep_input(
        &mut self,
        task: usize,
        input: &Done<S>,
    ) -> Result<(), CheckpointError> {
        let input = self.done(self.coder.plan.nodes.len(), input)?;
        self.known.push((task, TaskOutcome::Finished(input)));
        Ok(())
    }

    /// Keeps answers for a task.
    pub(super) fn keep_answers(&mut self, task: usize, answers: Vec<Answer>) {
        if let Some(checkpoint) = self.current {
            self.tasks.push(TaskRecord {
                checkpoint,
                task,
                outcome: None,
                answers,
                once: Vec::new(),
            });
        }
    }

    /// Keeps what a command from outside writes and starts at the current checkpoint.
    pub(super) fn keep_entry(
        &mut self,
        writes: Vec<Write<S>>,
        tasks: Vec<TaskSpec>,
    ) -> Result<(), CheckpointError> {
        if writes.is_empty() && tasks.is_empty() {
            return Ok(());
        }
        if let Some(checkpoint) = self.current {
            let writes = self.writes(writes)?;
            self.entries.push(EntryRecord {
                checkpoint,
                writes,
                tasks,
            });
        }
        Ok(())
    }

    /// Writes from outside, as they are stored.
    pub(super) fn writes(&self, writes: Vec<Write<S>>) -> Result<Payload, CheckpointError> {
        let payload = self.coder.writes(writes);
        self.tip
            .encode(payload, || "what came from outside".to_owned())
    }

    /// A state, as it is kept until it is stored.
    pub(super) fn state(&self, state: S) -> Payload {
        self.coder.state(Arc::new(state))
    }

    /// A task, as it is stored.
    pub(super) fn spec(&self, task: &Task<S>) -> Result<TaskSpec, CheckpointError> {
        let plan = &self.coder.plan;
        let payload = match &task.argument {
            None => None,
            Some(Argument::Item(item)) => Some(Coder::<S>::item(Arc::clone(item))),
            Some(Argument::State(state)) => Some(self.coder.state(Arc::clone(state))),
        };
        let what = || format!("the argument of node `{}`", plan.node_name(task.node));
        let payload = payload.map(|payload| self.tip.encode(payload, what));
        let argument = payload.transpose()?.map(|payload| match &task.argument {
            Some(Argument::State(_)) => TaskArgument::State(payload),
            _ => TaskArgument::Item(payload),
        });
        let node = if task.node < plan.names.len() {
            plan.name(task.node)
        } else {
            START.into()
        };
        Ok(TaskSpec::new(node, argument))
    }

    /// Stores what is kept; `running` says whether the run goes on.
    pub(super) async fn flush(&mut self, running: bool) -> Result<(), AgentError> {
        if self.tasks.is_empty() && self.entries.is_empty() {
            return Ok(());
        }
        self.count();
        self.running = running;
        let batch = Batch {
            tasks: std::mem::take(&mut self.tasks),
            entries: std::mem::take(&mut self.entries),
            running,
            ..Batch::default()
        };
        Ok(self.tip.put(batch).await?)
    }

    /// Says that no run is under way any more.
    pub(super) async fn rest(&mut self) -> Result<(), AgentError> {
        if !self.running {
            return Ok(());
        }
        self.running = false;
        Ok(self.tip.put(Batch::default()).await?)
    }

    /// Counts what is about to be stored.
    fn count(&mut self) {
        let finished = |outcome: Option<&TaskOutcome>| match outcome {
            Some(TaskOutcome::Finished(done) | TaskOutcome::Ran(done)) => done.size(),
            _ => None,
        };
        let tasks = self
            .tasks
            .iter()
            .map(|task| finished(task.outcome.as_ref()));
        let known = self
            .known
            .iter()
            .map(|(_, outcome)| finished(Some(outcome)));
        let entries = self.entries.iter().map(|entry| entry.writes.size());
        for size in tasks.chain(known).chain(entries) {
            self.log_bytes += RECORD + size.unwrap_or(0) as u64;
        }
    }

    /// Begins a checkpoint, with a snapshot or without, and says how long the log is then.
    fn begin(&mut self, snapshot: bool) -> u64 {
        self.log_bytes = if snapshot { 0 } else { self.log_bytes + RECORD };
        self.log_bytes
    }

    /// The state, if it is time for a snapshot.
    fn due(
        &mut self,
        source: Source,
        step: i64,
        state: impl FnOnce() -> Arc<S>,
    ) -> Result<Option<Payload>, CheckpointError> {
        let place = match source {
            Source::Loop => Snapshots::Anywhere,
            Source::Input if self.current.is_some() => Snapshots::AtInputs,
            _ => return Ok(None),
        };
        if self.snapshots != place {
            return Ok(None);
        }
        if !self.tip.encodes() {
            // The further apart, the longer the thread: writing stays amortised O(what changed).
            let step = usize::try_from(step).unwrap_or(0);
            let due = self.since_snapshot >= SNAPSHOT_EVERY.max(step / 2);
            return Ok(due.then(|| self.coder.state(state())));
        }
        if self.log_bytes < self.measure_at {
            return Ok(None);
        }
        let payload = self.coder.state(state());
        let payload = self.tip.encode(payload, || "the state".to_owned())?;
        let size = payload.size().unwrap_or(0) as u64;
        // A log that is not much longer than the state is the better way to keep it: where a state
        // only ever grows, the log holds little else. It is measured again when it has doubled, or
        // has reached twice that size.
        let stores = size * 2 <= self.log_bytes;
        self.measure_at = size * 2;
        if !stores {
            self.measure_at = self.measure_at.max(self.log_bytes * 2);
        }
        self.measure_at = self.measure_at.max(SHORT_LOG);
        Ok(stores.then_some(payload))
    }

    /// Stores a checkpoint, and with it what is kept for the one before.
    async fn checkpoint(
        &mut self,
        mut record: CheckpointRecord,
        entry: Option<Payload>,
        running: bool,
    ) -> Result<(), AgentError> {
        record.metadata.clone_from(&self.metadata);
        self.parent = record.parent;
        self.source = record.source;
        self.since_snapshot = record.since_snapshot;
        self.running = running;
        let mut tasks = std::mem::take(&mut self.tasks);
        let mut entries = std::mem::take(&mut self.entries);
        let known = std::mem::take(&mut self.known);
        let id = self
            .tip
            .put_checkpoint(record, |record| {
                tasks.extend(known.into_iter().map(|(task, outcome)| TaskRecord {
                    checkpoint: record.id,
                    task,
                    outcome: Some(outcome),
                    answers: Vec::new(),
                    once: Vec::new(),
                }));
                entries.extend(entry.map(|writes| EntryRecord {
                    checkpoint: record.id,
                    writes,
                    tasks: Vec::new(),
                }));
                Batch {
                    checkpoints: vec![record],
                    tasks,
                    entries,
                    running,
                    ..Batch::default()
                }
            })
            .await?;
        self.current = Some(id);
        self.called_before.clear();
        Ok(())
    }
}

impl<S: State> Machine<S> {
    /// Stores how one of several tasks ended, as soon as it has.
    pub(super) async fn record_ended(
        &mut self,
        task: usize,
        node: usize,
        ended: &Ended<S>,
    ) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => {
                recorder.keep(task, node, ended)?;
                recorder.flush(true).await
            }
        }
    }

    /// Keeps an input for the checkpoint that begins with it.
    pub(super) fn keep_input(&mut self, task: usize, input: &Done<S>) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => Ok(recorder.keep_input(task, input)?),
        }
    }

    /// Notes how the only task of a superstep ended; it is stored with the next checkpoint, or now
    /// if there will be none.
    pub(super) async fn keep_ended(
        &mut self,
        node: usize,
        ended: &Ended<S>,
    ) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => {
                recorder.keep(0, node, ended)?;
                match ended {
                    Ended::Finished(_) => Ok(()),
                    _ => recorder.flush(false).await,
                }
            }
        }
    }

    /// What was written from outside, as an entry; none when it is nothing.
    pub(super) fn entry(&self, writes: Vec<Write<S>>) -> Result<Option<Payload>, AgentError> {
        match &self.recorder {
            Some(recorder) if !writes.is_empty() => Ok(Some(recorder.writes(writes)?)),
            _ => Ok(None),
        }
    }

    /// Says in the log that no run is under way any more.
    pub(super) async fn rest(&mut self) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => recorder.rest().await,
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
        let (plan, state, step) = (&self.plan, &self.state, self.step);
        let Some(recorder) = &mut self.recorder else {
            return Ok(());
        };
        recorder.count();
        let kept = || {
            let mut state = S::clone(state);
            state.reset(&plan.fields.untracked);
            Arc::new(state)
        };
        let snapshot = recorder.due(origin.source, step, kept)?;
        let tasks = self.frontier.iter().map(|task| recorder.spec(task));
        let tasks = tasks.collect::<Result<_, _>>()?;
        let goes_on = !self.frontier.is_empty() || !self.deferred.is_empty();
        let running = goes_on && !recorder.at_rest;
        let stored = snapshot.is_some();
        let record = CheckpointRecord {
            id: CheckpointId::after(None),
            parent: origin.parent,
            base: origin.base,
            step,
            source: origin.source,
            created_at: SystemTime::now(),
            tasks,
            joins: Self::join_records(plan, &self.joins),
            deferred: self.deferred.iter().map(|node| plan.name(*node)).collect(),
            snapshot,
            since_snapshot: if stored {
                0
            } else {
                recorder.since_snapshot + 1
            },
            log_bytes: recorder.begin(stored),
            measure_at: recorder.measure_at,
            ran: Vec::new(),
            metadata: BTreeMap::new(),
            graph: plan.fingerprint,
            call: recorder.call.clone(),
        };
        recorder.checkpoint(record, entry, running).await?;
        self.tell_checkpoint().await;
        Ok(())
    }

    fn join_records(plan: &Plan<S>, joins: &[Seen]) -> Vec<JoinRecord> {
        let seen = joins
            .iter()
            .zip(&plan.topology_joins)
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
            inside: None,
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
