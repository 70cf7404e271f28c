//! How long a thread lives.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What happens to a thread that nothing has changed for a while.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ttl {
    /// The time in minutes.
    pub(crate) ttl: f64,
    #[serde(default)]
    pub(crate) strategy: Pruning,
}

/// What is removed of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pruning {
    /// Everything.
    #[default]
    Delete,
    /// All checkpoints but the newest.
    KeepLatest,
}

impl Ttl {
    /// Removes a thread that nothing has changed for that time.
    pub(crate) fn delete_after(time: Duration) -> Self {
        Self {
            ttl: time.as_secs_f64() / 60.0,
            strategy: Pruning::Delete,
        }
    }

    /// Returns the time; `None` if it is none.
    pub(crate) fn time(self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.ttl * 60.0).ok()
    }

    pub(super) fn milliseconds(self) -> Option<i64> {
        i64::try_from(self.time()?.as_millis()).ok()
    }
}
