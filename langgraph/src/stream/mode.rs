//! Which events are wanted.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// A kind of events. Combine several with `|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// The whole state after every superstep that wrote something.
    Values = 1,
    /// What each node wrote, as it finishes.
    Updates = 2,
    /// Messages: pieces while a model streams them, whole ones from nodes' updates.
    Messages = 4,
    /// What nodes emit themselves.
    Custom = 8,
    /// Tasks as they start and finish.
    Tasks = 16,
    /// Checkpoints as they are saved.
    Checkpoints = 32,
}

/// A set of [`Mode`]s.
///
/// # Examples
///
/// ```
/// use langgraph::stream::{Mode, Modes};
///
/// let modes = Mode::Updates | Mode::Messages;
/// assert!(modes.contains(Mode::Updates) && !modes.contains(Mode::Values));
/// assert!(Modes::DEBUG.contains(Mode::Tasks) && Modes::DEBUG.contains(Mode::Checkpoints));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Modes(u8);

impl Modes {
    /// Nothing but errors and interrupts.
    pub const NONE: Self = Self(0);
    /// Everything.
    pub const ALL: Self = Self(63);
    /// Tasks and checkpoints: what Python calls `debug`.
    pub const DEBUG: Self = Self(Mode::Tasks as u8 | Mode::Checkpoints as u8);

    /// True when `mode` is in the set.
    pub const fn contains(self, mode: Mode) -> bool {
        self.0 & mode as u8 != 0
    }
}

impl From<Mode> for Modes {
    fn from(mode: Mode) -> Self {
        Self(mode as u8)
    }
}

impl<M: Into<Self>> BitOr<M> for Modes {
    type Output = Self;

    fn bitor(self, other: M) -> Self {
        Self(self.0 | other.into().0)
    }
}

impl<M: Into<Modes>> BitOr<M> for Mode {
    type Output = Modes;

    fn bitor(self, other: M) -> Modes {
        Modes::from(self) | other
    }
}

impl<M: Into<Self>> BitOrAssign<M> for Modes {
    fn bitor_assign(&mut self, other: M) {
        *self = *self | other;
    }
}

impl fmt::Debug for Modes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            Mode::Values,
            Mode::Updates,
            Mode::Messages,
            Mode::Custom,
            Mode::Tasks,
            Mode::Checkpoints,
        ];
        f.debug_set()
            .entries(all.iter().filter(|mode| self.contains(**mode)))
            .finish()
    }
}
