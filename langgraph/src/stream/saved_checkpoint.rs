//! A checkpoint without its values.

use std::collections::BTreeMap;

use langgraph_topology::NodeName;
use serde::Serialize;
use serde_json::Value;

use crate::checkpoint::{CheckpointId, Source};

/// A checkpoint that was saved, without the state; see
/// [`StreamOptions::without_checkpoint_values`](crate::stream::StreamOptions::without_checkpoint_values).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SavedCheckpoint {
    /// The checkpoint.
    pub id: CheckpointId,
    /// The checkpoint before it.
    pub parent: Option<CheckpointId>,
    /// The nodes that run next.
    pub next: Vec<NodeName>,
    /// The superstep: -1 for the first input, 0 after START's edges.
    pub step: i64,
    /// What made the checkpoint.
    pub source: Source,
    /// The metadata of the run.
    pub metadata: BTreeMap<String, Value>,
}
