//! What happens when the thread of a run is busy.

use serde::{Deserialize, Serialize};

use crate::queue::Cancel;

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

impl Strategy {
    /// Returns what becomes of the other runs of the thread, if they are stopped.
    pub(crate) fn stops(self) -> Option<Cancel> {
        match self {
            Self::Interrupt => Some(Cancel::Interrupt),
            Self::Rollback => Some(Cancel::Rollback),
            Self::Reject | Self::Enqueue => None,
        }
    }
}
