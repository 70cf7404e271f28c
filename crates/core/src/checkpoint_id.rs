//! The id of a checkpoint.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::environment;

/// Identifies a checkpoint; the ids of a thread increase with time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckpointId(Uuid);

impl CheckpointId {
    /// Creates an id after `previous`, even if the clock has gone back since.
    pub fn after(previous: Option<Self>) -> Self {
        Self::after_at(previous, environment::now())
    }

    /// As [`after`](Self::after), for a caller that has read the clock.
    pub fn after_at(previous: Option<Self>, now: SystemTime) -> Self {
        let id = crate::id::new_id_at(now);
        match previous {
            Some(previous) if !previous.is_before(Self(id)) => {
                Self(Uuid::from_u128(previous.0.as_u128().wrapping_add(1)))
            }
            _ => Self(id),
        }
    }

    /// As `<`, in two instructions and not by a call that compares bytes.
    pub(crate) fn is_before(self, other: Self) -> bool {
        self.0.as_u128() < other.0.as_u128()
    }

    /// Returns the time of creation, to the millisecond.
    pub fn created_at(self) -> SystemTime {
        let (seconds, nanoseconds) = self
            .0
            .get_timestamp()
            .map_or((0, 0), |timestamp| timestamp.to_unix());
        SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds)
    }

    /// Returns the stored form, which sorts like the ids.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.into_bytes()
    }

    /// Reads the stored form.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for CheckpointId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}
