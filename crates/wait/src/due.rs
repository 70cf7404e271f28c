//! What is due.

use std::time::SystemTime;

use langgraph::checkpoint::{Checkpointer, RunStatus, ThreadFilter};
use langgraph::error::CheckpointError;

use crate::read::{list, waits_of};
use crate::wait::Wait;

/// Returns the waits of all threads of a saver whose time has come at `now`, earliest first.
///
/// The saver finds their threads by time: those that are not due cost nothing. A thread that cannot be
/// read is left out; [`wake_due`](crate::wake_due) and [`Waits::unreadable`](crate::Waits::unreadable) name it.
///
/// # Errors
///
/// Those of the saver, if it cannot list the threads; [`CheckpointError::NoAdministration`] if it never
/// can.
pub async fn due<C: Checkpointer + ?Sized>(
    saver: &C,
    now: SystemTime,
) -> Result<Vec<Wait>, CheckpointError> {
    let mut due = Vec::new();
    let filter = ThreadFilter::new()
        .status(RunStatus::Interrupted)
        .due_at(now);
    for info in list(saver, filter).await? {
        let waits = waits_of(saver, &info).await.unwrap_or_default();
        due.extend(waits.into_iter().filter(|wait| wait.is_due(now)));
    }
    due.sort_by_key(|wait| wait.until);
    Ok(due)
}
