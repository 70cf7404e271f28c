//! Stream modes: which events to send.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// A kind of events. Combine several with `|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum StreamMode {
    /// The whole state after every superstep that wrote something.
    Values = 1,
    /// The writes of each node, as it finishes.
    Updates = 2,
    /// Messages: chunks while a model streams them, whole ones from nodes' updates, unless the state has them already.
    Messages = 4,
    /// Events that nodes emit.
    Custom = 8,
    /// Tasks as they start and finish.
    Tasks = 16,
    /// Checkpoints as they are saved.
    Checkpoints = 32,
    /// How many items of each map are done.
    Progress = 64,
}

/// A set of [`StreamMode`]s.
///
/// # Examples
///
/// ```
/// use langgraph::stream::{StreamMode, StreamModes};
///
/// let modes = StreamMode::Updates | StreamMode::Messages;
/// assert!(modes.contains(StreamMode::Updates) && !modes.contains(StreamMode::Values));
/// assert!(StreamModes::DEBUG.contains(StreamMode::Tasks) && StreamModes::DEBUG.contains(StreamMode::Checkpoints));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StreamModes(u8);

impl StreamModes {
    /// Only errors and interrupts.
    pub const NONE: Self = Self(0);
    /// All events.
    pub const ALL: Self = Self(127);
    /// Tasks and checkpoints: Python's `debug`.
    pub const DEBUG: Self = Self(StreamMode::Tasks as u8 | StreamMode::Checkpoints as u8);

    /// Events with the writes of tasks.
    pub(super) const OF_WRITES: Self = Self(StreamMode::Updates as u8 | StreamMode::Tasks as u8);

    /// Returns true if one of `modes` is in the set.
    pub(super) const fn meets(self, modes: Self) -> bool {
        self.0 & modes.0 != 0
    }

    /// Returns true if `mode` is in the set.
    pub const fn contains(self, mode: StreamMode) -> bool {
        self.0 & mode as u8 != 0
    }
}

impl From<StreamMode> for StreamModes {
    fn from(mode: StreamMode) -> Self {
        Self(mode as u8)
    }
}

impl<M: Into<Self>> BitOr<M> for StreamModes {
    type Output = Self;

    fn bitor(self, other: M) -> Self {
        Self(self.0 | other.into().0)
    }
}

impl<M: Into<StreamModes>> BitOr<M> for StreamMode {
    type Output = StreamModes;

    fn bitor(self, other: M) -> StreamModes {
        StreamModes::from(self) | other
    }
}

impl<M: Into<Self>> BitOrAssign<M> for StreamModes {
    fn bitor_assign(&mut self, other: M) {
        *self = *self | other;
    }
}

impl fmt::Debug for StreamModes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            StreamMode::Values,
            StreamMode::Updates,
            StreamMode::Messages,
            StreamMode::Custom,
            StreamMode::Tasks,
            StreamMode::Checkpoints,
            StreamMode::Progress,
        ];
        f.debug_set()
            .entries(all.iter().filter(|mode| self.contains(**mode)))
            .finish()
    }
}
