//! The usual checkpoint, by what is new of it.

use std::time::SystemTime;

use langgraph_topology::NodeName;

use super::{FollowedRecord, PayloadValue};
use crate::checkpoint_id::CheckpointId;
use crate::error::CheckpointError;

/// The checkpoint behind a superstep whose only task has finished, and that one task follows: most
/// supersteps of a chain or a loop end so. It is stored with the task's result.
///
/// All else follows from the checkpoint before it, which is the head of the log and of the same run. That
/// one is its [parent](super::CheckpointRecord::parent), and its [base](super::CheckpointRecord::base)
/// with the writes of its task. The step and the length of the log since the snapshot grow by one. The
/// source is [`Loop`](super::Source::Loop); the log's bytes, the metadata, the graph, the call, and the
/// status of the run stay. The rest is empty.
#[derive(Clone, Debug)]
pub struct Link {
    /// The id of the checkpoint.
    pub id: CheckpointId,
    /// When it was created.
    pub created_at: SystemTime,
    /// What the only task of the checkpoint before it wrote.
    pub done: PayloadValue,
    /// The node of its only task, which has no argument.
    pub next: NodeName,
    /// How often the run has followed edges that have a bound.
    pub followed: Box<[FollowedRecord]>,
}

/// What a saver has done with a [`Link`].
#[derive(Debug)]
#[must_use = "a link that was not taken is not stored"]
pub enum PutLink {
    /// It has stored the link.
    Stored,
    /// It could not store it.
    Failed(CheckpointError),
    /// It stores the whole checkpoint instead, which it has to be given.
    NotTaken(Link),
}
