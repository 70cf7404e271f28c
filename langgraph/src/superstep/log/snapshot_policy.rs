//! The length of a log, and when to store a snapshot.

use std::sync::Arc;

use super::recorder::Recorder;
use super::snapshots::{SHORT_LOG, Snapshots};
use crate::checkpoint::{Payload, Source, TaskOutcome};
use crate::error::CheckpointError;
use crate::state::State;

/// The minimum number of records between snapshots of values.
const SNAPSHOT_EVERY: usize = 64;

/// The approximate size of a record beside its payload.
const RECORD: u64 = 64;

/// Returns the size of what a task wrote.
fn written(outcome: &TaskOutcome) -> u64 {
    match outcome {
        TaskOutcome::Finished(done) | TaskOutcome::Ran(done) => done.size().unwrap_or(0) as u64,
        _ => 0,
    }
}

impl<S: State> Recorder<S> {
    /// Counts a record before it is stored.
    pub(super) fn count(&mut self) {
        for task in &self.tasks {
            self.log_bytes += RECORD + task.outcome.as_ref().map_or(0, written);
        }
        for (_, outcome) in &self.known {
            self.log_bytes += RECORD + written(outcome);
        }
        for entry in &self.entries {
            self.log_bytes += RECORD + entry.writes.size().unwrap_or(0) as u64;
        }
    }

    /// Begins a checkpoint, with or without a snapshot, and returns the length of the log.
    pub(super) fn begin(&mut self, snapshot: bool) -> u64 {
        self.log_bytes = if snapshot { 0 } else { self.log_bytes + RECORD };
        self.log_bytes
    }

    /// Returns the state if a snapshot is due.
    pub(super) fn due(
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
        if !self.log_head.encodes() {
            // The longer the thread, the further apart: writing stays amortised O(changes).
            let step = usize::try_from(step).unwrap_or(0);
            let due = self.since_snapshot >= SNAPSHOT_EVERY.max(step / 2);
            return Ok(due.then(|| self.coder.state(state())));
        }
        if self.log_bytes < self.measure_at {
            return Ok(None);
        }
        let payload = self.coder.state(state());
        let payload = self.log_head.encode(payload, || "the state".to_owned())?;
        let size = payload.size().unwrap_or(0) as u64;
        // A log that is not much longer than the state is the better way to store it: if a state
        // only grows, the log holds little else. It is measured again when it has doubled, or has
        // reached twice that size.
        let stores = size * 2 <= self.log_bytes;
        self.measure_at = size * 2;
        if !stores {
            self.measure_at = self.measure_at.max(self.log_bytes * 2);
        }
        self.measure_at = self.measure_at.max(SHORT_LOG);
        Ok(stores.then_some(payload))
    }
}
