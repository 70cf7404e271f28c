//! Runs with [`Durability::Exit`](crate::checkpoint::Durability::Exit), which are stored when they
//! end.

use crate::error::AgentError;
use crate::graph::NodeName;
use crate::log::{ExitBuffer, joined, last_by_edge};
use crate::record::Log;
use crate::state::{State, TrackedState};
use crate::superstep::Engine;
use crate::thread::load::{Read, load};

/// Stores the end of a run: one checkpoint, with a snapshot of its state.
pub(crate) async fn save<S: State>(
    engine: &Engine<S>,
    buffer: &ExitBuffer,
    log: &Log,
) -> Result<(), AgentError> {
    let Some(recorder) = &engine.observer.recorder else {
        return Ok(());
    };
    let Some(last) = recorder.current() else {
        return Ok(());
    };
    if !buffer.holds(&log.key, last) {
        return Ok(buffer.release(&log.key, last, None).await?);
    }
    let plan = &engine.position.plan;
    let loaded = load(&Read {
        plan,
        codec: engine.codec,
        initial: &plan.unwritten_state(),
        saver: buffer,
        key: &log.key,
        at: Some(last),
        changes: false,
    })
    .await?;
    let Some(loaded) = loaded else { return Ok(()) };
    let mut stored = loaded.stored;
    let ran = last_by_edge(buffer, &log.key, &stored).await?;
    let now = |name: &NodeName| plan.renamed(name);
    let joined = joined(buffer, &log.key, &stored, &plan.topology_joins, &now).await?;
    let state = TrackedState {
        state: loaded.state,
        written: loaded.written,
    };
    // The snapshot includes the updates of the checkpoint from outside.
    for entry in &mut stored.entries {
        entry.writes = recorder.writes(Vec::new())?;
    }
    stored.entries.retain(|entry| !entry.tasks.is_empty());
    let checkpoint = &mut stored.checkpoint;
    checkpoint.parent = buffer.stored_before(&log.key, last);
    checkpoint.base = None;
    checkpoint.snapshot = Some(recorder.state(state));
    checkpoint.since_snapshot = 0;
    checkpoint.ran = ran;
    checkpoint.joined = joined;
    Ok(buffer.release(&log.key, last, Some(stored)).await?)
}
