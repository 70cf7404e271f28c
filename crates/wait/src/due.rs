//! What is due.

use std::time::SystemTime;

use langgraph::checkpoint::{Checkpointer, RunStatus, ThreadFilter, ThreadInfo};
use langgraph::error::CheckpointError;

use crate::wait::Wait;
use crate::waits::waits_of;

/// How many threads one query lists.
pub(crate) const PAGE: usize = 1_000;

/// The call that errors name.
const CALL: &str = "a look at what is due";

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

/// Returns the threads that a filter selects, page by page.
pub(crate) async fn list<C: Checkpointer + ?Sized>(
    saver: &C,
    filter: ThreadFilter,
) -> Result<Vec<ThreadInfo>, CheckpointError> {
    let missing = CheckpointError::NoAdministration(CALL);
    let administration = saver.administration().ok_or(missing)?;
    let mut filter = filter.limit(PAGE);
    let mut all = Vec::new();
    loop {
        let page = administration.threads(filter.clone()).await?;
        let is_last = page.len() < PAGE;
        if let Some(last) = page.last() {
            filter = filter.after(&last.thread);
        }
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}
