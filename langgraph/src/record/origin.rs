//! Where a checkpoint comes from.

use crate::checkpoint::{Base, CheckpointId, Source};

/// The origin of a new checkpoint.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) parent: Option<CheckpointId>,
    pub(crate) base: Option<Base>,
    pub(crate) source: Source,
}

impl Origin {
    /// Returns the origin of the checkpoint after the tasks of `current`.
    pub(crate) fn of_superstep(current: Option<CheckpointId>) -> Self {
        Self {
            parent: current,
            base: current.map(|id| Base {
                id,
                with_tasks: true,
            }),
            source: Source::Loop,
        }
    }

    /// Returns the origin of a checkpoint with the state of `parent`.
    pub(crate) fn child_of(parent: Option<CheckpointId>, source: Source) -> Self {
        Self {
            parent,
            base: parent.map(|id| Base {
                id,
                with_tasks: false,
            }),
            source,
        }
    }
}
