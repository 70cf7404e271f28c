//! Links: the usual checkpoints, by what is new of them.

use std::sync::Arc;
use std::time::SystemTime;

use langgraph_topology::NodeName;

use super::{FollowedRecord, PayloadValue};
use crate::checkpoint_id::CheckpointId;

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
    /// The node of its only task, which has no argument.
    pub next: NodeName,
    /// How often the run has followed edges that have a bound.
    pub followed: Box<[FollowedRecord]>,
}

/// [Links](Link) that follow one another, oldest first, and the results of the tasks before them. They do not
/// change.
///
/// An index at which there is no link gives `None`.
pub trait Links: Send + Sync {
    /// Returns how many there are.
    fn count(&self) -> usize;

    /// Returns the id of a link.
    fn id(&self, index: usize) -> Option<CheckpointId>;

    /// Adds the ids of all links to a list.
    fn add_ids(&self, ids: &mut Vec<CheckpointId>);

    /// Returns a link.
    fn link(&self, index: usize) -> Option<Link>;

    /// Returns what the only task of the checkpoint before a link wrote. The value keeps all links in memory.
    fn done(self: Arc<Self>, index: usize) -> Option<PayloadValue>;

    /// As [`done`](Self::done), with a copy that keeps nothing else in memory.
    fn own_done(&self, index: usize) -> Option<PayloadValue>;
}

/// The links that a run adds to a log, in memory that the run and its saver share.
///
/// Each is stored when it is added. A saver that reads or changes the log [closes](Self::close) them first.
pub trait GrowingLinks: Send + Sync {
    /// Returns how many there are, and of the newest its id and when it was created.
    fn newest(&self) -> Option<(usize, CheckpointId, SystemTime)>;

    /// Returns the links. The run cannot add to them any more: it shares others for what follows.
    fn close(&self) -> Arc<dyn Links>;
}
