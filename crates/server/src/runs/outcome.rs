//! What becomes of a run that a process has claimed.

use serde_json::Value;

/// What a process has done with a run.
pub(super) enum Outcome {
    Ended {
        result: Value,
    },
    /// It is back in the queue, or another process has it.
    Requeued,
}
