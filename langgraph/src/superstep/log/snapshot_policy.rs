//! How long a log is, and when it gets a snapshot.

use std::sync::Arc;

use super::recorder::Recorder;
use crate::checkpoint::{CheckpointError, Payload, Source, TaskOutcome};
use crate::state::State;

/// Snapshots of values are at least that many records apart.
const SNAPSHOT_EVERY: usize = 16;

/// A log of bytes shorter than this is read as it is.
pub(super) const SHORT_LOG: u64 = 4096;

/// What a record takes beside its payload, about.
const RECORD: u64 = 64;

/// Where a log may have snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Snapshots {
    /// Behind any superstep.
    Anywhere,
    /// Before inputs: whoever reads the log wants every write since.
    AtInputs,
    /// Whoever reads the log wants every write.
    Never,
}

impl<S: State> Recorder<S> {
    /// Counts what is about to be stored.
    pub(super) fn count(&mut self) {
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
    pub(super) fn begin(&mut self, snapshot: bool) -> u64 {
        self.log_bytes = if snapshot { 0 } else { self.log_bytes + RECORD };
        self.log_bytes
    }

    /// The state, if it is time for a snapshot.
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
            // The further apart, the longer the thread: writing stays amortised O(what changed).
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
}
