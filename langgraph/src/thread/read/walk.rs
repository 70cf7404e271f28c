//! Walks a log.

use std::collections::HashSet;

use crate::checkpoint::CheckpointId;
use crate::error::AgentError;
use crate::log::load_chain;
use crate::state::{State, TrackedState};
use crate::thread::load::Read;
use crate::thread::loaded::Loaded;
use crate::thread::replay::Replay;

/// All checkpoints of a log, or some, read ancestry by ancestry. Each record is read once, however
/// many checkpoints contain it.
pub(in crate::thread) struct Walk<'a, S: State> {
    pub(in crate::thread) read: Read<'a, S>,
}

impl<S: State> Walk<'_, S> {
    /// Passes each wanted checkpoint to `see`: its record with the state before its entries, and
    /// the state with them.
    pub(in crate::thread) async fn each(
        &self,
        wanted: &[CheckpointId],
        mut see: impl FnMut(TrackedState<S>, Loaded<S>) -> Result<(), AgentError>,
    ) -> Result<(), AgentError> {
        let mut left: HashSet<CheckpointId> = wanted.iter().copied().collect();
        for id in wanted {
            if !left.contains(id) {
                continue;
            }
            let chain = load_chain(self.read.saver, self.read.key, Some(*id)).await?;
            let Some(chain) = chain else { return Ok(()) };
            self.read.check(chain.owner.as_deref())?;
            let mut replay = Replay::new(self.read.reader(), self.read.initial);
            let mut before = None;
            for stored in &chain.records {
                replay.before_entries(before, stored, None)?;
                let state = replay.tracked_state();
                replay.entries(stored, None)?;
                if left.remove(&stored.checkpoint.id) {
                    see(state, replay.loaded(chain.head, stored.clone())?)?;
                }
                before = Some(stored);
            }
            // It was removed in the meantime.
            left.remove(id);
        }
        Ok(())
    }
}
