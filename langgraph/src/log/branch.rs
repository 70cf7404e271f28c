//! Copies of a branch of a log.

use std::collections::VecDeque;
use std::sync::Arc;

use langgraph_topology::START;

use super::load::load_chain;
use langgraph_core::checkpoint::{
    Batch, CheckpointId, Checkpointer, Owner, Stored, TaskOutcome, ThreadKey,
};
use langgraph_core::error::CheckpointError;

/// Returns the records of a checkpoint and of those it is based on, for a log of its own. Of the
/// last checkpoint's tasks, only START has run.
///
/// # Errors
///
/// [`CheckpointError::UnknownCheckpoint`] if there is no such checkpoint; and if the storage fails.
pub(crate) async fn copy_of_branch(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    at: Option<CheckpointId>,
) -> Result<Batch, CheckpointError> {
    Ok(copy_of(lineage(saver, key, at).await?))
}

/// What a log belongs to, and records of it, oldest first.
type Lineage = (Option<Arc<Owner>>, VecDeque<Stored>);

/// Returns a checkpoint (`None` means the head) and its ancestors, to the beginning of the log.
async fn lineage(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    at: Option<CheckpointId>,
) -> Result<Lineage, CheckpointError> {
    let (mut lineage, mut owner) = (VecDeque::new(), None);
    let mut next = at;
    loop {
        let chain = load_chain(saver, key, next).await?;
        let Some(chain) = chain.filter(|chain| !chain.records.is_empty()) else {
            break;
        };
        owner = chain.owner;
        for stored in chain.records.into_iter().rev() {
            next = stored.checkpoint.base.map(|base| base.id);
            lineage.push_front(stored);
        }
        if next.is_none() {
            break;
        }
    }
    match at {
        Some(id) if lineage.is_empty() => {
            let thread = key.thread.clone();
            Err(CheckpointError::UnknownCheckpoint { thread, id })
        }
        // A pruned log ends here.
        _ => Ok((owner, lineage)),
    }
}

/// Returns the records of a new log; all tasks of the last checkpoint run again.
fn copy_of((owner, records): Lineage) -> Batch {
    let mut batch = Batch {
        owner,
        ..Batch::default()
    };
    let last = records.len().saturating_sub(1);
    for (index, stored) in records.into_iter().enumerate() {
        let starts = |task: usize| {
            let spec = stored.checkpoint.tasks.get(task);
            spec.is_some_and(|spec| &*spec.node == START)
        };
        // START has no code: it reuses its input.
        let stays = |task: usize, outcome: Option<&TaskOutcome>| {
            index < last || (starts(task) && matches!(outcome, Some(TaskOutcome::Finished(_))))
        };
        let tasks = stored.tasks.iter();
        let tasks = tasks.filter(|record| stays(record.task, record.outcome.as_ref()));
        batch.tasks.extend(tasks.cloned());
        batch.entries.extend(stored.entries);
        batch.checkpoints.push(stored.checkpoint);
    }
    batch
}
