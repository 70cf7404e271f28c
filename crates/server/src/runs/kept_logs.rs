//! The logs of subgraphs that a thread keeps from call to call, when a run is rolled back that has noted none of them.
//!
//! A run that begins at an end of its graph notes only that checkpoint. What it has stored in these logs is found by its
//! calls: a call names the checkpoints around it, the outer before the inner ones, and those of the run are newer.

use langgraph::checkpoint::{CheckpointId, Checkpointer, ThreadKey};
use langgraph::error::CheckpointError;

/// Returns true for such a log, and for those below it.
pub(super) fn is_kept(key: &ThreadKey) -> bool {
    let first = key.namespace.first();
    first.is_some_and(|place| ThreadKey::checkpoint_of(place).is_none())
}

/// Returns true if a call was made behind a checkpoint of the thread.
fn is_behind(head: CheckpointId, mut call: impl Iterator<Item = impl AsRef<str>>) -> bool {
    let checkpoint = call.find_map(|place| ThreadKey::checkpoint_of(place.as_ref()));
    checkpoint.is_some_and(|checkpoint| checkpoint > head)
}

/// Returns where a log ended when that was the last checkpoint of its thread; `None` if there was no such log.
pub(super) async fn end_at(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
    head: CheckpointId,
) -> Result<Option<CheckpointId>, CheckpointError> {
    let mut at = None;
    loop {
        let chain = saver.load(key, at).await?;
        let records = chain.map(|chain| chain.records).unwrap_or_default();
        for stored in records.iter().rev() {
            let checkpoint = &stored.checkpoint;
            let call = checkpoint.call.as_deref().unwrap_or_default();
            let own = key.namespace.iter().map(String::as_str);
            if !is_behind(head, own.chain(call.split('/'))) {
                return Ok(Some(checkpoint.id));
            }
        }
        at = records.first().and_then(|stored| stored.checkpoint.parent);
        if at.is_none() {
            return Ok(None);
        }
    }
}
