//! Options for listing checkpoints.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::Value;

use super::Source;
use crate::checkpoint_id::CheckpointId;

/// Selects the checkpoints of a log that [`Checkpointer::list`](super::Checkpointer::list) returns.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Only those older than this one.
    pub before: Option<CheckpointId>,
    /// At most this many.
    pub limit: Option<usize>,
    /// Only those with this source.
    pub source: Option<Source>,
    /// Only those of these supersteps.
    pub steps: Option<RangeInclusive<i64>>,
    /// Only those of runs with all of this metadata.
    pub metadata: BTreeMap<String, Value>,
}

impl ListOptions {
    /// Selects all checkpoints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those older than `checkpoint`.
    #[must_use]
    pub fn before(mut self, checkpoint: CheckpointId) -> Self {
        self.before = Some(checkpoint);
        self
    }

    /// At most `limit`.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Only those with this source.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Only those of these supersteps.
    #[must_use]
    pub fn steps(mut self, steps: RangeInclusive<i64>) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Only those of runs with this metadata.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Returns true if these options select a checkpoint. `limit` is ignored, because it depends on
    /// the others.
    pub fn wants(
        &self,
        id: CheckpointId,
        step: i64,
        source: Source,
        metadata: &BTreeMap<String, Value>,
    ) -> bool {
        self.before.is_none_or(|before| id < before)
            && self.source.is_none_or(|wanted| source == wanted)
            && self
                .steps
                .as_ref()
                .is_none_or(|steps| steps.contains(&step))
            && self
                .metadata
                .iter()
                .all(|(key, value)| metadata.get(key) == Some(value))
    }
}
