//! The checkpoint of a run's position: as it is stored, and as it is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::origin::Origin;
use super::recorder::{Past, Recorder};
use super::run_links::SharedLinks;
use crate::checkpoint::{
    CheckpointRecord, Few, FollowedRecord, JoinRecord, Payload, RunStatus, Snapshot, Source,
    TaskSnapshot,
};
use crate::environment;
use crate::error::CheckpointError;
use crate::log::Putting;
use crate::node::{RunBounds, Scope};
use crate::span::Span;
use crate::state::{State, TrackedState};
use crate::stream::{Payload as Shown, SavedCheckpoint};
use crate::task::{JoinProgress, Pending, Position};

impl<S: State> Recorder<S> {
    /// Stores a checkpoint of the position, with the held records of the previous one: at once, if the
    /// saver never waits. One that is [held](Self::hold_next) is stored with the next.
    pub(crate) fn record(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
        origin: Origin,
        entry: Option<Payload>,
    ) -> Putting<'_> {
        let was_running = self.running;
        let status = match self.fill(position, pending, origin, entry) {
            Ok(status) => status,
            Err(error) => return Putting::stored(Err(error)),
        };
        if self.held.keeps_checkpoint() {
            self.running = was_running;
            self.stored();
            return Putting::Ended(None);
        }
        let span = Span::checkpoint(position.step);
        match span.enter(|| self.log_head.put(self.held.batch(status, None))) {
            Putting::Ended(None) => self.stored(),
            Putting::Ended(error) => {
                self.running = was_running;
                return Putting::Ended(error);
            }
            Putting::Waits(put) => {
                return Putting::Waits(Box::pin(async move {
                    let stored = span.around(put).await;
                    match stored {
                        Ok(()) => self.stored(),
                        Err(_) => self.running = was_running,
                    }
                    stored
                }));
            }
        }
        Putting::Ended(None)
    }

    /// Notes that the newest checkpoint is stored.
    pub(super) fn stored(&mut self) {
        self.current = self.newest;
        self.stored_name.clear();
    }

    /// Adds a checkpoint of the position to the held records, and returns the status of the run.
    fn fill(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
        origin: Origin,
        entry: Option<Payload>,
    ) -> Result<RunStatus, CheckpointError> {
        let Position { plan, step, .. } = position;
        self.held.count(&mut self.policy);
        self.held.count_known(&mut self.policy);
        let snapshot = self.snapshot_if_due(origin.source, position)?;
        // Savers in memory keep the list as it is.
        let tasks = match pending.tasks {
            [task] => Few::one(self.spec(task)?),
            tasks => tasks
                .iter()
                .map(|task| self.spec(task))
                .collect::<Result<_, _>>()?,
        };
        let continues = !pending.tasks.is_empty() || !pending.deferred.is_empty();
        let pauses = std::mem::take(&mut self.pauses);
        self.running = continues && !self.at_rest && !pauses;
        self.parent = origin.parent;
        self.source = origin.source;
        self.policy.begin(snapshot.is_some());
        let now = environment::now();
        let id = self.next_checkpoint(now);
        let encodes = self.log_head.encodes();
        let refused = matches!(self.links, SharedLinks::Refused);
        let links = self.running && !encodes && self.call.is_none() && tasks.len() == 1;
        self.linked = (links && !refused).then_some(id);
        let Past { ran, joined } = std::mem::take(&mut self.past);
        let record = CheckpointRecord {
            id,
            parent: origin.parent,
            base: origin.base,
            step: *step,
            source: origin.source,
            created_at: now,
            tasks,
            joins: join_records(position, pending.joins),
            deferred: plan.names_of(pending.deferred),
            followed: followed_records(&position.scope),
            snapshot,
            since_snapshot: self.policy.records,
            log_bytes: self.policy.bytes,
            measure_at: self.policy.measure_at,
            ran,
            joined,
            metadata: Arc::clone(&self.metadata),
            graph: plan.fingerprint,
            call: self.call.clone(),
            pauses,
        };
        self.held.checkpoint(record, entry);
        Ok(match continues && !self.at_rest {
            true if pauses => RunStatus::Interrupted,
            true => RunStatus::Running,
            false => RunStatus::Done,
        })
    }

    /// Returns the state if a snapshot of it is due.
    fn snapshot_if_due(
        &mut self,
        source: Source,
        position: &Position<S>,
    ) -> Result<Option<Payload>, CheckpointError> {
        // The first checkpoint of a log has the state of the graph.
        if self.current.is_none() {
            return Ok(None);
        }
        let coder = &self.coder;
        let payload = || {
            coder
                .state(TrackedState {
                    state: Arc::new(S::clone(&position.state)),
                    written: position.written.clone(),
                })
                .into()
        };
        self.policy
            .due(source, position.step, &self.log_head, payload)
    }

    /// Returns the current checkpoint for the event stream, with the state if `values`.
    pub(crate) fn shown(
        &self,
        position: &Position<S>,
        pending: Pending<'_, S>,
        values: bool,
    ) -> Option<Shown> {
        if values {
            let snapshot = self.snapshot(position, pending)?;
            return Some(Shown::Checkpoint(Arc::new(snapshot)));
        }
        Some(Shown::CheckpointSaved(Box::new(SavedCheckpoint {
            id: self.current?,
            parent: self.parent,
            next: pending.names(&position.plan),
            step: position.step,
            source: self.source,
            metadata: BTreeMap::clone(&self.metadata),
        })))
    }

    /// Returns the checkpoint of the current position.
    fn snapshot(&self, position: &Position<S>, pending: Pending<'_, S>) -> Option<Snapshot<S>> {
        let mut tasks = Vec::with_capacity(pending.tasks.len());
        for task in pending.tasks {
            tasks.push(TaskSnapshot {
                node: position.plan.name(task.node),
                sent: task.argument.is_some(),
                result: None,
                error: None,
                interrupts: Vec::new(),
                inside: None,
            });
        }
        Some(Snapshot {
            id: self.current?,
            parent: self.parent,
            values: S::clone(&position.state),
            written: position.written.fields(),
            tasks,
            next: pending.names(&position.plan),
            step: position.step,
            source: self.source,
            created_at: environment::now(),
            interrupts: Vec::new(),
            unfilled_joins: position.unfilled_joins(pending.joins),
            metadata: BTreeMap::clone(&self.metadata),
        })
    }
}

/// Returns the joins that wait, as the log of the graph has them.
fn join_records<S: State>(position: &Position<S>, joins: &[JoinProgress]) -> Vec<JoinRecord> {
    let all = position.unfilled_joins(joins);
    if all.is_empty() {
        return Vec::new();
    }
    all.into_iter()
        .map(|join| join.into_record(&position.scope.path))
        .collect()
}

/// Returns the edges that have a bound and were followed.
#[inline]
pub(super) fn followed_records(scope: &Scope) -> Vec<FollowedRecord> {
    let bounds = scope.bounds.as_ref();
    bounds.map_or_else(Vec::new, RunBounds::records)
}
