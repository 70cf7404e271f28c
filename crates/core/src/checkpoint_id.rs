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

    fn after_at(previous: Option<Self>, now: SystemTime) -> Self {
        let id = Self(crate::id::new_id_at(now));
        match previous {
            Some(previous) if !previous.is_before(id) => previous.next(),
            _ => id,
        }
    }

    #[inline]
    fn next(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128().wrapping_add(1)))
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

/// Creates the ids of one writer, which follow one another.
///
/// The first one of a millisecond has a random part, to which the others of that millisecond add one.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
/// use langgraph::checkpoint::CheckpointIds;
///
/// let (mut ids, now) = (CheckpointIds::default(), SystemTime::now());
/// let first = ids.after(None, now);
/// let second = ids.after(Some(first), now);
/// assert!(first < second);
/// assert_eq!(first.created_at(), second.created_at());
/// ```
#[derive(Debug, Default)]
pub struct CheckpointIds {
    /// The last id, when it was created, and when its millisecond ends.
    last: Option<(CheckpointId, SystemTime, SystemTime)>,
}

impl CheckpointIds {
    /// Creates an id after `previous`, even if the clock has gone back since.
    #[inline]
    pub fn after(&mut self, previous: Option<CheckpointId>, now: SystemTime) -> CheckpointId {
        if let Some((last, from, until)) = &mut self.last
            && (*from..*until).contains(&now)
            && previous == Some(*last)
        {
            *last = last.next();
            return *last;
        }
        self.begin_after(previous, now)
    }

    fn begin_after(&mut self, previous: Option<CheckpointId>, now: SystemTime) -> CheckpointId {
        let id = CheckpointId::after_at(previous, now);
        let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since_1970.map_or(0, |since| since.subsec_nanos() % 1_000_000);
        let rest = Duration::from_nanos(1_000_000 - u64::from(nanos));
        self.last = now.checked_add(rest).map(|until| (id, now, until));
        id
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
