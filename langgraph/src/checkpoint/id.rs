//! The id of a checkpoint.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Names a checkpoint; ids of one thread increase with time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckpointId(Uuid);

impl CheckpointId {
    /// A new id behind `previous`, also when the clock has gone back since.
    pub fn after(previous: Option<Self>) -> Self {
        let id = Uuid::now_v7();
        match previous {
            Some(Self(previous)) if id <= previous => {
                Self(Uuid::from_u128(previous.as_u128().wrapping_add(1)))
            }
            _ => Self(id),
        }
    }
}

impl CheckpointId {
    /// When it was made, to the millisecond.
    pub fn created_at(self) -> SystemTime {
        let (seconds, nanoseconds) = self
            .0
            .get_timestamp()
            .map_or((0, 0), |timestamp| timestamp.to_unix());
        SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds)
    }

    /// As a saver stores it; in the order of the ids.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.into_bytes()
    }

    /// What a saver has stored.
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
