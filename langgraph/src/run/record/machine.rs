//! What a machine writes to its log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::Origin;
use crate::AgentError;
use crate::checkpoint::{
    Base, CheckpointId, CheckpointRecord, JoinRecord, Payload, Snapshot, Source, TaskSnapshot,
};
use crate::graph::plan::Plan;
use crate::node::Write;
use crate::run::ended::{Done, Ended};
use crate::run::machine::{Machine, Seen};
use crate::run::task::Task;
use crate::state::State;

impl<S: State> Machine<S> {
    /// Stores how one of several tasks ended, as soon as it has.
    pub(crate) async fn record_ended(
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
    pub(crate) fn keep_input(&mut self, task: usize, input: &Done<S>) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => Ok(recorder.keep_input(task, input)?),
        }
    }

    /// Notes how the only task of a superstep ended; it is stored with the next checkpoint, or now
    /// if there will be none.
    pub(crate) async fn keep_ended(
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
    pub(crate) fn entry(&self, writes: Vec<Write<S>>) -> Result<Option<Payload>, AgentError> {
        match &self.recorder {
            Some(recorder) if !writes.is_empty() => Ok(Some(recorder.writes(writes)?)),
            _ => Ok(None),
        }
    }

    /// Says in the log that no run is under way any more.
    pub(crate) async fn rest(&mut self) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => recorder.rest().await,
        }
    }

    /// Stores the checkpoint behind a superstep.
    pub(crate) async fn record_superstep(&mut self) -> Result<(), AgentError> {
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
    pub(crate) async fn record(
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
            joined: Vec::new(),
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
    pub(crate) fn snapshot(&self) -> Option<Snapshot<S>> {
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
