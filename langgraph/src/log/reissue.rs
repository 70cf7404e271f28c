//! Makes a task run again that waits for answers.

use super::load::load_chain;
use crate::interrupt::{Interrupt, Interrupts};
use langgraph_core::checkpoint::{
    Batch, CheckpointId, Checkpointer, Head, RunStatus, Stored, TaskOutcome, TaskRecord, ThreadKey,
    fold_tasks, open_interrupts,
};
use langgraph_core::error::CheckpointError;

/// The number of attempts to store a record while other runs write first.
const ATTEMPTS: usize = 3;

/// Lets a task run again without the subgraph's interrupts: all of them, or those with these ids.
/// Returns the ids of the removed interrupts.
///
/// # Errors
///
/// [`CheckpointError::Conflict`] if another run has continued from the checkpoint; and if the
/// storage fails.
pub(crate) async fn reissue(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    known: Head,
    (checkpoint, task): (CheckpointId, usize),
    gone: Option<Vec<String>>,
) -> Result<Vec<String>, CheckpointError> {
    let mut attempt = 0;
    loop {
        let chain = load_chain(saver, key, None).await?;
        let Some((head, stored)) =
            chain.and_then(|mut chain| Some((chain.head, chain.records.pop()?)))
        else {
            return Ok(Vec::new());
        };
        // Another run has continued in the meantime.
        if stored.checkpoint.id != checkpoint {
            return Err(CheckpointError::Conflict {
                thread: key.thread.clone(),
                known: Some(known),
                head: Some(head),
            });
        }
        let Some(asked) = open(&stored, task) else {
            // It runs again anyway.
            return Ok(Vec::new());
        };
        let (dropped, inner) = asked.inner.into_iter().partition(|question| match &gone {
            None => true,
            Some(gone) => gone.contains(&question.id),
        });
        let dropped: Vec<_> = dropped;
        let interrupts = Interrupts {
            own: asked.own,
            inner,
            again: true,
        };
        let outcome = TaskOutcome::Interrupted(interrupts);
        let record = TaskRecord::ended(checkpoint, task, outcome);
        // What else waits goes on waiting.
        let mut others = open_interrupts(&stored);
        others.retain(|other| dropped.iter().all(|dropped| dropped.id != other.id));
        let waits = key.namespace.is_empty() && !others.is_empty();
        let batch = Batch {
            status: if waits {
                RunStatus::Interrupted
            } else {
                RunStatus::Done
            },
            wake_at: Interrupt::first_due(&others).filter(|_| waits),
            head: Some(head),
            tasks: vec![record],
            ..Batch::default()
        };
        attempt += 1;
        match saver.put(key, batch).await {
            Ok(()) => return Ok(dropped.into_iter().map(|question| question.id).collect()),
            Err(CheckpointError::Conflict { .. }) if attempt < ATTEMPTS => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns a task's interrupts without an answer, if the task ended with them.
fn open(stored: &Stored, task: usize) -> Option<Interrupts> {
    let folded = fold_tasks(stored).into_iter().nth(task)?;
    let Some(TaskOutcome::Interrupted(interrupts)) = folded.outcome else {
        return None;
    };
    let mut open = interrupts.clone();
    let answered = |key: &str| folded.answers.iter().any(|answer| answer.key == *key);
    open.own = open.own.filter(|own| !answered(&own.key));
    open.inner.retain(|question| !answered(&question.id));
    Some(open)
}
