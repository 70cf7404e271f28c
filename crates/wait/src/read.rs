//! Reads threads and their waits from a saver.

use langgraph::checkpoint::{Checkpointer, ThreadFilter, ThreadInfo, ThreadKey, open_interrupts};
use langgraph::error::CheckpointError;

use crate::wait::Wait;

/// How many threads one query lists.
const PAGE: usize = 1_000;

/// The call that errors name.
const CALL: &str = "a look at what is due";

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

/// Returns the waits of a thread.
pub(crate) async fn waits_of<C: Checkpointer + ?Sized>(
    saver: &C,
    info: &ThreadInfo,
) -> Result<Vec<Wait>, CheckpointError> {
    let key = ThreadKey::root(&*info.thread);
    let position = saver.load_state(&key, None, &mut |_| ()).await?;
    let stored = position.and_then(|position| position.checkpoint);
    let open = stored.iter().flat_map(open_interrupts);
    let waits = open.filter_map(|interrupt| Wait::of(&info.thread, &interrupt));
    let graph = info.owner.as_ref().map(|owner| &owner.graph);
    Ok(waits
        .map(|wait| Wait {
            graph: graph.cloned(),
            ..wait
        })
        .collect())
}
