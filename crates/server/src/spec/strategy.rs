//! What happens when the thread of a run is busy.

use serde::{Deserialize, Serialize};

/// What happens when the thread has a run already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Strategy {
    Reject,
    #[default]
    Enqueue,
    Interrupt,
    Rollback,
}
