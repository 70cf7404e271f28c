//! The graph that a thread is at.

use langgraph::checkpoint::{CheckpointId, Checkpointer, Stored, ThreadKey};
use langgraph::error::CheckpointError;

/// The head of a thread.
pub(crate) struct Position {
    pub(crate) checkpoint: CheckpointId,
    /// The fingerprint of the graph that wrote it.
    pub(crate) graph: u64,
    /// True if no task is left to run.
    pub(crate) is_done: bool,
}

impl Position {
    fn of(stored: &Stored) -> Self {
        let checkpoint = &stored.checkpoint;
        Self {
            checkpoint: checkpoint.id,
            graph: checkpoint.graph,
            is_done: stored.task_count() == 0 && checkpoint.deferred.is_empty(),
        }
    }

    /// Reads it; `None` if there is no such log.
    pub(crate) async fn read<C: Checkpointer + ?Sized>(
        saver: &C,
        key: &ThreadKey,
    ) -> Result<Option<Self>, CheckpointError> {
        Ok(head(saver, key).await?.as_ref().map(Self::of))
    }
}

/// Returns the newest checkpoint of a log.
pub(crate) async fn head<C: Checkpointer + ?Sized>(
    saver: &C,
    key: &ThreadKey,
) -> Result<Option<Stored>, CheckpointError> {
    let position = saver.load_state(key, None, &mut |_| ()).await?;
    Ok(position.and_then(|position| position.checkpoint))
}
