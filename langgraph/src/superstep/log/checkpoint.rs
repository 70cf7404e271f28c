//! The checkpoint of a run's position: as it is stored, and as it is shown.

use std::sync::Arc;
use std::time::SystemTime;

use super::recorder::{Origin, Recorder};
use crate::checkpoint::{CheckpointRecord, JoinRecord, Payload, Snapshot, TaskSnapshot};
use crate::error::AgentError;
use crate::graph::NodeName;
use crate::state::State;
use crate::stream::{Payload as Shown, SavedCheckpoint};
use crate::superstep::{Frontier, JoinProgress, Position};

impl<S: State> Recorder<S> {
    /// Stores a checkpoint of the position.
    pub(crate) async fn record(
        &mut self,
        position: &Position<S>,
        frontier: &Frontier<S>,
        origin: Origin,
        entry: Option<Payload>,
    ) -> Result<(), AgentError> {
        let Position {
            plan, state, step, ..
        } = position;
        self.count();
        let kept = || {
            let mut state = S::clone(state);
            state.reset(&plan.fields.untracked);
            Arc::new(state)
        };
        let snapshot = self.due(origin.source, *step, kept)?;
        // Savers in memory keep the list as it is.
        let mut tasks = Vec::with_capacity(frontier.tasks.len());
        for task in &frontier.tasks {
            tasks.push(self.spec(task)?);
        }
        let continues = !frontier.tasks.is_empty() || !frontier.deferred.is_empty();
        let running = continues && !self.at_rest;
        let stored = snapshot.is_some();
        let record = CheckpointRecord {
            id: self.next_checkpoint(),
            parent: origin.parent,
            base: origin.base,
            step: *step,
            source: origin.source,
            created_at: SystemTime::now(),
            tasks,
            joins: join_records(&plan.topology_joins, &frontier.joins),
            deferred: plan.names_of(&frontier.deferred),
            snapshot,
            since_snapshot: if stored { 0 } else { self.since_snapshot + 1 },
            log_bytes: self.begin(stored),
            measure_at: self.measure_at,
            ran: Vec::new(),
            joined: Vec::new(),
            metadata: self.metadata.clone(),
            graph: plan.fingerprint,
            call: self.call.clone(),
        };
        self.checkpoint(record, entry, running).await
    }

    /// Returns the current checkpoint for the event stream, with the state if `values`.
    pub(crate) fn shown(
        &self,
        position: &Position<S>,
        frontier: &Frontier<S>,
        values: bool,
    ) -> Option<Shown> {
        if values {
            let snapshot = self.snapshot(position, frontier)?;
            return Some(Shown::Checkpoint(Arc::new(snapshot)));
        }
        Some(Shown::CheckpointSaved(Box::new(SavedCheckpoint {
            id: self.current?,
            parent: self.parent,
            next: frontier.names(&position.plan),
            step: position.step,
            source: self.source,
            metadata: self.metadata.clone(),
        })))
    }

    /// Returns the checkpoint of the current position.
    fn snapshot(&self, position: &Position<S>, frontier: &Frontier<S>) -> Option<Snapshot<S>> {
        let mut tasks = Vec::with_capacity(frontier.tasks.len());
        for task in &frontier.tasks {
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
            tasks,
            next: frontier.names(&position.plan),
            step: position.step,
            source: self.source,
            created_at: SystemTime::now(),
            interrupts: Vec::new(),
            unfilled_joins: frontier.unfilled_joins(&position.plan, &position.scope.namespace),
            metadata: self.metadata.clone(),
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
