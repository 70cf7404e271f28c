//! The observers of a run: the log of its thread, and the readers of its events.

use std::sync::Arc;
use std::time::SystemTime;

use super::recorder::{Origin, Recorder};
use crate::checkpoint::Place;
use crate::checkpoint::{
    Base, CheckpointId, CheckpointRecord, JoinRecord, Payload, RunStatus, Snapshot, Source,
    TaskSnapshot,
};
use crate::error::AgentError;
use crate::graph::NodeName;
use crate::node::{Output, Write};
use crate::state::State;
use crate::stream::{Payload as Shown, SavedCheckpoint};
use crate::superstep::frontier::{Frontier, JoinProgress};
use crate::superstep::interrupts::Asking;
use crate::superstep::moment::Moment;
use crate::superstep::progress::Progress;
use crate::superstep::task::Task;
use crate::superstep::task_result::{Finished, TaskResult};

/// Stores and emits what a run does.
pub(crate) struct Observer<S: State> {
    /// The thread's log, if the run has a thread.
    pub(crate) recorder: Option<Box<Recorder<S>>>,
    pub(crate) asking: Asking,
    /// None while nobody reads events: it takes up room in every run.
    pub(in crate::superstep) progress: Option<Box<Progress>>,
}

impl_default!([S: State] Observer<S> { recorder, asking, progress });

impl<S: State> Observer<S> {
    /// Returns true if somebody reads the run's events, or its thread is stored.
    pub(crate) fn watches(&self, at: &Moment<'_, S>) -> bool {
        at.scope.emitter.is_some() || self.recorder.is_some()
    }

    /// Returns the checkpoint whose tasks run.
    pub(crate) fn current(&self) -> Option<CheckpointId> {
        self.recorder.as_ref()?.current()
    }

    /// Returns the place of a task of the current checkpoint.
    pub(crate) fn place(&self, task: usize) -> Option<Place> {
        self.recorder.as_ref()?.place(task)
    }

    /// Stores and emits the end of a task. If the task finished `alone`, its record is stored with
    /// the next checkpoint.
    pub(crate) async fn task_ended(
        &mut self,
        at: &Moment<'_, S>,
        task: &Task<S>,
        index: usize,
        result: &TaskResult<S>,
        alone: bool,
    ) -> Result<(), AgentError> {
        let mut stored = Ok(());
        if let Some(recorder) = &mut self.recorder {
            recorder.keep(index, task.node, result)?;
            stored = match result {
                TaskResult::Finished(_) if alone => Ok(()),
                TaskResult::Asked { .. } if alone => recorder.flush(RunStatus::Interrupted).await,
                TaskResult::Failed(_) if alone => recorder.flush(RunStatus::Failed).await,
                _ => recorder.flush(RunStatus::Running).await,
            };
        }
        // A failure is more important than an error of storing it.
        if at.scope.emitter.is_some() && (stored.is_ok() || matches!(result, TaskResult::Failed(_)))
        {
            let asked = match result {
                TaskResult::Asked { questions, .. } => {
                    let (asking, questions) = (&self.asking, questions.clone());
                    asking.interrupts(self.current(), at, task, index, questions)
                }
                _ => Vec::new(),
            };
            at.emit_ended(task, result, asked).await;
            let progress = self.progress.as_deref_mut();
            if let Some(map) = progress.and_then(|maps| maps.ended(task, result)) {
                at.emit_progress(&map).await;
            }
        }
        stored
    }

    /// Stores and emits the end of the superstep's only task, whose routers have answered.
    pub(crate) async fn finished(
        &mut self,
        at: &Moment<'_, S>,
        task: &Task<S>,
        done: Finished<S>,
    ) -> Result<(), AgentError> {
        match &mut self.recorder {
            Some(recorder) if at.scope.emitter.is_none() => {
                Ok(recorder.keep_finished(0, task.node, done)?)
            }
            _ => {
                let result = TaskResult::Finished(done);
                self.task_ended(at, task, 0, &result, true).await
            }
        }
    }

    /// Holds an input for the checkpoint that begins with it.
    pub(crate) fn keep_input(&mut self, task: usize, input: Output<S>) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => Ok(recorder.keep_input(task, Finished::new(input))?),
        }
    }

    /// Encodes writes from outside as an entry; `None` if there are none.
    pub(crate) fn entry(&self, writes: Vec<Write<S>>) -> Result<Option<Payload>, AgentError> {
        match &self.recorder {
            Some(recorder) if !writes.is_empty() => Ok(Some(recorder.writes(writes)?)),
            _ => Ok(None),
        }
    }

    /// Records in the log that no run is active any more.
    pub(crate) async fn rest(&mut self, status: RunStatus) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => recorder.rest(status).await,
        }
    }

    /// Stores and emits the result of a superstep.
    pub(crate) async fn superstep_ended(
        &mut self,
        at: &Moment<'_, S>,
        frontier: &Frontier<S>,
        wrote: bool,
    ) -> Result<(), AgentError> {
        if wrote {
            at.emit_values().await;
        }
        let current = self.current();
        let base = current.map(|id| Base {
            id,
            with_tasks: true,
        });
        let origin = Origin {
            parent: current,
            base,
            source: Source::Loop,
        };
        self.record(at, frontier, origin, None).await
    }

    /// Stores a checkpoint of the current position.
    pub(crate) async fn record(
        &mut self,
        at: &Moment<'_, S>,
        frontier: &Frontier<S>,
        origin: Origin,
        entry: Option<Payload>,
    ) -> Result<(), AgentError> {
        let (plan, state, step) = (at.plan, at.state, at.step);
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
        // Savers in memory keep the list as it is.
        let mut tasks = Vec::with_capacity(frontier.tasks.len());
        for task in &frontier.tasks {
            tasks.push(recorder.spec(task)?);
        }
        let continues = !frontier.tasks.is_empty() || !frontier.deferred.is_empty();
        let running = continues && !recorder.at_rest;
        let stored = snapshot.is_some();
        let record = CheckpointRecord {
            id: recorder.next_checkpoint(),
            parent: origin.parent,
            base: origin.base,
            step,
            source: origin.source,
            created_at: SystemTime::now(),
            tasks,
            joins: join_records(&plan.topology_joins, &frontier.joins),
            deferred: plan.names_of(&frontier.deferred),
            snapshot,
            since_snapshot: if stored {
                0
            } else {
                recorder.since_snapshot + 1
            },
            log_bytes: recorder.begin(stored),
            measure_at: recorder.measure_at,
            ran: Vec::new(),
            joined: Vec::new(),
            metadata: recorder.metadata.clone(),
            graph: plan.fingerprint,
            call: recorder.call.clone(),
        };
        recorder.checkpoint(record, entry, running).await?;
        let checkpoint = |values| self.shown(at, frontier, values);
        at.emit_checkpoint(checkpoint).await;
        Ok(())
    }

    /// Returns the current checkpoint for the event stream, with the state if `values`.
    pub(crate) fn shown(
        &self,
        at: &Moment<'_, S>,
        frontier: &Frontier<S>,
        values: bool,
    ) -> Option<Shown> {
        if values {
            let snapshot = self.snapshot(at, frontier)?;
            return Some(Shown::Checkpoint(Arc::new(snapshot)));
        }
        let recorder = self.recorder.as_ref()?;
        Some(Shown::CheckpointSaved(Box::new(SavedCheckpoint {
            id: recorder.current?,
            parent: recorder.parent,
            next: frontier.names(at.plan),
            step: at.step,
            source: recorder.source,
            metadata: recorder.metadata.clone(),
        })))
    }

    /// Returns the checkpoint of the current position.
    fn snapshot(&self, at: &Moment<'_, S>, frontier: &Frontier<S>) -> Option<Snapshot<S>> {
        let recorder = self.recorder.as_ref()?;
        let mut tasks = Vec::with_capacity(frontier.tasks.len());
        for task in &frontier.tasks {
            tasks.push(TaskSnapshot {
                node: at.plan.name(task.node),
                sent: task.argument.is_some(),
                result: None,
                error: None,
                interrupts: Vec::new(),
                inside: None,
            });
        }
        Some(Snapshot {
            id: recorder.current?,
            parent: recorder.parent,
            values: S::clone(at.state),
            tasks,
            next: frontier.names(at.plan),
            step: at.step,
            source: recorder.source,
            created_at: SystemTime::now(),
            interrupts: Vec::new(),
            unfilled_joins: frontier.unfilled_joins(at.plan, &at.scope.namespace),
            metadata: recorder.metadata.clone(),
        })
    }
}

/// Returns the joins with some of their sources; `names` are the sources and the target of each.
fn join_records(names: &[(Vec<NodeName>, NodeName)], joins: &[JoinProgress]) -> Vec<JoinRecord> {
    let seen = joins.iter().zip(names).filter(|(seen, _)| seen.count > 0);
    let records = seen.map(|(seen, (sources, target))| JoinRecord {
        sources: sources.clone(),
        target: Arc::clone(target),
        seen: sources
            .iter()
            .enumerate()
            .filter(|(i, _)| seen.sources.contains(*i))
            .map(|(_, source)| Arc::clone(source))
            .collect(),
    });
    records.collect()
}
