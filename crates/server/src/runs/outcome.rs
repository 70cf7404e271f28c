//! What becomes of a run that a process has claimed.

use serde_json::Value;

use crate::rows::{Ended, Mark};

/// What a process has done with a run.
pub(super) enum Outcome {
    Ended {
        result: Value,
        /// Its thread is marked as removed.
        removal: Option<Mark>,
    },
    /// The run goes on: it is back in the queue, or another process has it.
    NotEnded,
}

impl Outcome {
    pub(super) fn of(ended: Ended, result: Value) -> Self {
        let removal = match ended {
            Ended::Yes => None,
            Ended::WithThread(mark) => Some(mark),
            Ended::Revoked | Ended::ThreadMissing => return Self::NotEnded,
        };
        Self::Ended { result, removal }
    }
}
