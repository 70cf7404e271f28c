//! Writes a run to its thread's log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::coder::Coder;
use super::held::{Held, KnownTask};
use super::run_links::SharedLinks;
use super::snapshot_policy::{SnapshotPolicy, Snapshots};
use crate::checkpoint::{
    Batch, CheckpointId, CheckpointIds, CheckpointRecord, EntryRecord, Head, JoinRecord, Payload,
    RunStatus, Source, TaskArgument, TaskOutcome, TaskRecord, TaskSpec,
};
use crate::error::{AgentError, CheckpointError};
use crate::graph::NodeName;
use crate::graph::plan::Plan;
use crate::interrupt::Answer;
use crate::log::{LogHead, TaskPosition};
use crate::node::{Argument, Context, NodeId, Output};
use crate::state::{State, TrackedState, Write};
use crate::task::{Finished, Task, TaskResult};

/// The end of a log, to which a run appends.
pub(crate) struct Recorder<S: State> {
    pub(super) log_head: Arc<LogHead>,
    pub(super) coder: Arc<Coder<S>>,
    /// The checkpoint whose tasks run.
    pub(super) current: Option<CheckpointId>,
    /// The newest checkpoint of the log. Only the run itself adds some.
    pub(super) newest: Option<CheckpointId>,
    ids: CheckpointIds,
    /// The id of the next checkpoint, if it is known in advance.
    pub(super) next: Option<CheckpointId>,
    /// The current checkpoint, if a link may follow it: this run has stored it, and it has one task.
    pub(super) linked: Option<CheckpointId>,
    /// The links that follow the last whole checkpoint.
    pub(super) links: SharedLinks<S>,
    /// Its tasks whose nodes had other names when they were stored.
    pub(super) stored_name: Vec<(usize, NodeName)>,
    pub(super) parent: Option<CheckpointId>,
    pub(super) source: Source,
    pub(super) policy: SnapshotPolicy,
    /// The call of a persistent subgraph.
    pub(super) call: Option<Arc<str>>,
    /// True if no run continues after the stored records.
    pub(crate) at_rest: bool,
    /// True if the run pauses behind the checkpoint that is stored next.
    pub(crate) pauses: bool,
    /// True while the log says that a run is active.
    pub(super) running: bool,
    pub(super) metadata: Arc<BTreeMap<String, Value>>,
    /// What the next checkpoint says of the nodes that ran before it, and of its tasks that a join has started.
    pub(crate) past: Past,
    /// What is stored with the next checkpoint.
    pub(super) held: Held,
}

/// What an update from outside says of the past of its checkpoint, which the earlier checkpoints do not show.
#[derive(Default)]
pub(crate) struct Past {
    /// See [`CheckpointRecord::ran`].
    pub(crate) ran: Vec<NodeName>,
    /// See [`CheckpointRecord::joined`].
    pub(crate) joined: Vec<NodeName>,
}

impl<S: State> Recorder<S> {
    pub(crate) fn new(
        log_head: Arc<LogHead>,
        coder: Arc<Coder<S>>,
        metadata: Arc<BTreeMap<String, Value>>,
        snapshots: Snapshots,
    ) -> Self {
        Self {
            log_head,
            coder,
            policy: SnapshotPolicy::new(snapshots),
            call: None,
            current: None,
            newest: None,
            ids: CheckpointIds::default(),
            next: None,
            linked: None,
            links: SharedLinks::None,
            stored_name: Vec::new(),
            parent: None,
            source: Source::Input,
            at_rest: false,
            pauses: false,
            running: false,
            metadata,
            past: Past::default(),
            held: Held::default(),
        }
    }

    /// Begins behind the newest checkpoint of the log. `next` is the id of the next one, if it is fixed.
    pub(super) fn begin_after(&mut self, head: Option<Head>, next: Option<CheckpointId>) {
        self.newest = head.map(|head| head.id);
        self.next = next;
    }

    /// Returns the id of the next checkpoint.
    pub(super) fn next_checkpoint(&mut self, now: SystemTime) -> CheckpointId {
        let id = match self.next.take() {
            Some(next) => next,
            None => self.ids.after(self.newest, now),
        };
        self.newest = Some(id);
        id
    }

    /// Continues after `current`.
    pub(crate) fn resume(&mut self, current: &CheckpointRecord) {
        self.current = Some(current.id);
        self.linked = None;
        self.parent = current.parent;
        self.source = current.source;
        self.policy.resume(current);
    }

    /// Gives the contexts the places of the current checkpoint's tasks.
    pub(crate) fn place(&self, contexts: &mut [Context]) {
        for (task, cx) in contexts.iter_mut().enumerate() {
            let Some(checkpoint) = self.current else {
                cx.set_place(None);
                continue;
            };
            let stored_name = self.stored_name_of(task);
            match cx.place_mut() {
                // That of the last superstep, in the same log.
                Some(place) => {
                    place.checkpoint = checkpoint;
                    place.task = task;
                    place.stored_name = stored_name;
                }
                None => cx.set_place(Some(TaskPosition {
                    log_head: Arc::clone(&self.log_head),
                    checkpoint,
                    task,
                    stored_name,
                })),
            }
        }
    }

    /// Gives the context of a task the place of the only task of the current checkpoint, after it had that of
    /// the one before.
    #[inline]
    pub(crate) fn place_next(&self, cx: &mut Context) {
        match (self.current, cx.place_mut()) {
            (Some(checkpoint), Some(place)) if place.stored_name.is_none() => {
                place.checkpoint = checkpoint;
            }
            _ => self.place(std::slice::from_mut(cx)),
        }
    }

    #[inline]
    fn stored_name_of(&self, task: usize) -> Option<NodeName> {
        if self.stored_name.is_empty() {
            return None;
        }
        let mut names = self.stored_name.iter();
        let (_, name) = names.find(|(index, _)| *index == task)?;
        Some(Arc::clone(name))
    }

    /// Remembers the stored names of the current tasks, which the names of their subgraphs' logs
    /// contain.
    pub(crate) fn stored_name<'n>(
        &mut self,
        names: impl Iterator<Item = &'n NodeName>,
        plan: &Plan<S>,
    ) {
        let names = names.enumerate();
        let renamed = names.filter(|&(_, name)| plan.renamed(name) != *name);
        self.stored_name = renamed
            .map(|(index, name)| (index, Arc::clone(name)))
            .collect();
    }

    pub(crate) fn current(&self) -> Option<CheckpointId> {
        self.current
    }

    /// Holds a task's result for the next checkpoint, with the joins that its subgraphs have left.
    pub(crate) fn keep(
        &mut self,
        task: usize,
        node: NodeId,
        result: &TaskResult<S>,
        joins: Vec<JoinRecord>,
    ) -> Result<(), CheckpointError> {
        let Some(checkpoint) = self.current else {
            return Ok(());
        };
        let done = |done: &Finished<S>| self.done(node, done.clone());
        let (ran, outcome) = match result {
            TaskResult::Finished(finished) => (None, TaskOutcome::Finished(done(finished)?)),
            TaskResult::Interrupted(open) => (
                open.ran.as_ref().map(done).transpose()?,
                TaskOutcome::Interrupted(open.interrupts.clone()),
            ),
            TaskResult::Failed(error) => (None, TaskOutcome::Failed(error.to_string())),
        };
        if let Some(ran) = ran {
            let ran = TaskOutcome::Ran(ran);
            self.held.task(TaskRecord::ended(checkpoint, task, ran));
        }
        self.held.task(TaskRecord {
            joins,
            ..TaskRecord::ended(checkpoint, task, outcome)
        });
        Ok(())
    }

    /// Holds the result of a finished task, without a copy of it.
    #[inline]
    pub(crate) fn keep_finished(
        &mut self,
        task: usize,
        node: NodeId,
        done: Finished<S>,
        joins: Vec<JoinRecord>,
    ) -> Result<(), CheckpointError> {
        if let Some(checkpoint) = self.current {
            let done = self.done(node, done)?;
            self.held.result(checkpoint, task, done, joins);
        }
        Ok(())
    }

    /// Encodes a task's result.
    #[inline]
    fn done(&self, node: NodeId, done: Finished<S>) -> Result<Payload, CheckpointError> {
        let what = || format!("what node `{}` wrote", self.coder.plan.name(node));
        let done = self.coder.done(node, done);
        self.log_head.encode(done.into(), what)
    }

    /// Holds an input for the checkpoint that begins with it: both are stored together, or neither.
    pub(crate) fn keep_input(
        &mut self,
        task: usize,
        input: Finished<S>,
    ) -> Result<(), CheckpointError> {
        let input = self.done(NodeId::START, input)?;
        let input = TaskOutcome::Finished(input);
        self.held.known(task, KnownTask::Ended(input));
        Ok(())
    }

    /// Fails if an input cannot be encoded.
    pub(crate) fn check_input(&self, input: Output<S>) -> Result<(), CheckpointError> {
        self.done(NodeId::START, Finished::new(input)).map(drop)
    }

    /// Stores the next checkpoint together with the one behind it, unless the saver is one in memory.
    pub(crate) fn hold_next(&mut self) {
        self.held.keeps_next = self.log_head.encodes();
    }

    /// Holds a record that says only that the tasks of the current checkpoint have begun.
    pub(crate) fn keep_begun(&mut self) {
        self.keep_answers(0, Vec::new());
    }

    /// Holds answers for a task.
    pub(crate) fn keep_answers(&mut self, task: usize, answers: Vec<Answer>) {
        if let Some(checkpoint) = self.current {
            self.held
                .task(TaskRecord::answered(checkpoint, task, answers));
        }
    }

    /// Holds answers for tasks of the next checkpoint: both are stored together, or neither.
    pub(crate) fn keep_answers_of_next(&mut self, answers: impl Iterator<Item = (usize, Answer)>) {
        answers.for_each(|(task, answer)| self.held.known(task, KnownTask::Answered(answer)));
    }

    /// Holds the update and the tasks of a command from outside, for the current checkpoint, and the order in which all
    /// tasks are merged.
    pub(crate) fn keep_entry(
        &mut self,
        writes: Vec<Write<S>>,
        tasks: Vec<TaskSpec>,
        order: Vec<usize>,
    ) -> Result<(), CheckpointError> {
        if writes.is_empty() && tasks.is_empty() {
            return Ok(());
        }
        if let Some(checkpoint) = self.current {
            let writes = self.writes(writes)?;
            self.held.entry(EntryRecord {
                checkpoint,
                writes,
                tasks,
                order,
            });
        }
        Ok(())
    }

    /// Encodes writes from outside.
    pub(crate) fn writes(&self, writes: Vec<Write<S>>) -> Result<Payload, CheckpointError> {
        let payload = self.coder.writes(writes);
        self.log_head
            .encode(payload.into(), || "what came from outside".to_owned())
    }

    /// Wraps a state until it is stored.
    pub(crate) fn state(&self, state: TrackedState<S>) -> Payload {
        self.coder.state(state).into()
    }

    /// Encodes a task.
    pub(crate) fn spec(&self, task: &Task<S>) -> Result<TaskSpec, CheckpointError> {
        let plan = &self.coder.plan;
        let payload = match &task.argument {
            None => None,
            Some(Argument::Item(item)) => Some(Coder::<S>::item(Arc::clone(item))),
            Some(Argument::State(state)) => {
                let state = TrackedState::unknown(Arc::clone(state));
                Some(self.coder.state(state).into())
            }
        };
        let what = || format!("the argument of node `{}`", plan.name(task.node));
        let payload = payload.map(|payload| self.log_head.encode(payload, what));
        let argument = payload.transpose()?.map(|payload| match &task.argument {
            Some(Argument::State(_)) => TaskArgument::State(payload),
            _ => TaskArgument::Item(payload),
        });
        Ok(TaskSpec::new(plan.name(task.node), argument))
    }

    /// Stores the held records, with the status of the run, and the time for which it waits.
    pub(crate) async fn flush(
        &mut self,
        status: RunStatus,
        wake_at: Option<SystemTime>,
    ) -> Result<(), AgentError> {
        if self.held.is_empty() {
            return Ok(());
        }
        self.held.count(&mut self.policy);
        self.running = status.is_running();
        let same_tasks = self.running && !self.held.has_entries();
        self.linked = self.linked.filter(|_| same_tasks);
        let batch = self.held.batch(status, wake_at);
        Ok(self.log_head.put(batch).await?)
    }

    /// Stores how the run stands, without the held records; with them, if they hold a checkpoint.
    async fn put_status(
        &mut self,
        status: RunStatus,
        wake_at: Option<SystemTime>,
    ) -> Result<(), AgentError> {
        if self.held.has_checkpoint() {
            return self.flush(status, wake_at).await;
        }
        self.running = status.is_running();
        self.linked = None;
        let mut batch = Batch {
            status,
            wake_at,
            ..Batch::default()
        };
        Ok(self.log_head.put(&mut batch).await?)
    }

    /// Records that a run is active again, if none of its records has said so.
    pub(crate) async fn begin_again(&mut self) -> Result<(), AgentError> {
        if self.running {
            return Ok(());
        }
        self.put_status(RunStatus::Running, None).await
    }

    /// Records that no run is active any more, and when the thread is to be woken.
    pub(crate) async fn rest(
        &mut self,
        status: RunStatus,
        wake_at: Option<SystemTime>,
    ) -> Result<(), AgentError> {
        if !self.running && !self.held.has_checkpoint() {
            return Ok(());
        }
        self.put_status(status, wake_at).await
    }
}
