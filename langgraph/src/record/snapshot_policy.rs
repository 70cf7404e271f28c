//! The length of a log, and when to store a snapshot.

use crate::checkpoint::{CheckpointRecord, EntryRecord, Payload, Source, TaskOutcome, TaskRecord};
use crate::error::CheckpointError;
use crate::log::LogHead;

/// A log of bytes shorter than this needs no snapshot.
const SHORT_LOG: u64 = 4096;

/// The minimum number of records between snapshots of values. A load merges at most so many updates
/// of a short log.
const SNAPSHOT_EVERY: usize = 256;

/// The approximate size of a record beside its payload.
const RECORD: u64 = 64;

/// Where a log may have snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Snapshots {
    /// After any superstep.
    Anywhere,
    /// Only before inputs: the reader wants every write since.
    AtInputs,
    /// Nowhere: the reader wants every write.
    Never,
}

/// Decides when to store a snapshot, from the length of the log since the last one.
pub(super) struct SnapshotPolicy {
    place: Snapshots,
    /// The number of records since the last snapshot.
    pub(super) records: usize,
    /// The bytes of payloads since the last snapshot.
    pub(super) bytes: u64,
    /// The number of bytes at which to measure the state.
    pub(super) measure_at: u64,
}

impl SnapshotPolicy {
    pub(super) const fn new(place: Snapshots) -> Self {
        Self {
            place,
            records: 0,
            bytes: 0,
            measure_at: SHORT_LOG,
        }
    }

    /// Continues after `current`.
    pub(super) fn resume(&mut self, current: &CheckpointRecord) {
        self.records = current.since_snapshot;
        self.bytes = current.log_bytes;
        self.measure_at = current.measure_at.max(SHORT_LOG);
    }

    /// Counts the records of tasks before they are stored.
    pub(super) fn count_tasks(&mut self, tasks: &[TaskRecord]) {
        for task in tasks {
            self.bytes += RECORD;
            if let Some(outcome) = &task.outcome {
                self.bytes += written(outcome);
            }
        }
    }

    /// Counts the known result of a task before it is stored.
    pub(super) fn count_outcome(&mut self, outcome: &TaskOutcome) {
        self.bytes += RECORD + written(outcome);
    }

    /// Counts entries before they are stored.
    pub(super) fn count_entries(&mut self, entries: &[EntryRecord]) {
        for entry in entries {
            self.bytes += RECORD + size(&entry.writes);
        }
    }

    /// Begins a checkpoint, with or without a snapshot.
    pub(super) fn begin(&mut self, snapshot: bool) {
        if snapshot {
            (self.records, self.bytes) = (0, 0);
        } else {
            self.records += 1;
            self.bytes += RECORD;
        }
    }

    /// Returns true if no snapshot is due in place of a link, of which a log of bytes has none.
    pub(super) fn allows_link(&self, step: i64) -> bool {
        self.place != Snapshots::Anywhere || self.records < snapshot_every(step)
    }

    /// Returns the state if a snapshot is due in a checkpoint of `source`, which is not the first of
    /// the log.
    pub(super) fn due(
        &mut self,
        source: Source,
        step: i64,
        log_head: &LogHead,
        state: impl FnOnce() -> Payload,
    ) -> Result<Option<Payload>, CheckpointError> {
        let place = match source {
            Source::Loop => Snapshots::Anywhere,
            Source::Input => Snapshots::AtInputs,
            _ => return Ok(None),
        };
        if self.place != place {
            return Ok(None);
        }
        if !log_head.encodes() {
            let due = self.records >= snapshot_every(step);
            return Ok(due.then(state));
        }
        if self.bytes < self.measure_at {
            return Ok(None);
        }
        let payload = log_head.encode(state(), || "the state".to_owned())?;
        let size = size(&payload);
        // A log that is not much longer than the state is the better way to store it: if a state
        // only grows, the log holds little else. It is measured again when it has doubled, or has
        // reached twice that size.
        let stores = size * 2 <= self.bytes;
        self.measure_at = size * 2;
        if !stores {
            self.measure_at = self.measure_at.max(self.bytes * 2);
        }
        self.measure_at = self.measure_at.max(SHORT_LOG);
        Ok(stores.then_some(payload))
    }
}

/// Returns after how many records a log of values has its next snapshot. The longer the thread, the further
/// apart: writing stays amortised O(changes). At three quarters, a history that only grows is copied once
/// for two thirds of its length.
fn snapshot_every(step: i64) -> usize {
    let step = usize::try_from(step).unwrap_or(0);
    SNAPSHOT_EVERY.max(step / 4 * 3)
}

/// Returns the size of what a task wrote.
fn written(outcome: &TaskOutcome) -> u64 {
    match outcome {
        TaskOutcome::Finished(done) | TaskOutcome::Ran(done) => size(done),
        _ => 0,
    }
}

fn size(payload: &Payload) -> u64 {
    payload.size().unwrap_or(0) as u64
}
