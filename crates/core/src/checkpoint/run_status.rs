//! How the last run of a thread stands.

use serde::{Deserialize, Serialize};

/// How the last run of a thread stands, as far as the thread could record it.
///
/// A run whose process died has recorded nothing: its thread says [`Running`](Self::Running) for
/// ever. `Threads::resume_pending` looks for these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Nothing is left to do, or the thread was changed from outside.
    #[default]
    Done,
    /// A run is under way, or it vanished with its process.
    Running,
    /// The run waits for answers, or paused at a breakpoint.
    Interrupted,
    /// The run failed.
    Failed,
    /// The caller cancelled or dropped the run.
    Cancelled,
    /// The run took longer than its time limit.
    TimedOut,
    /// The run stopped behind a superstep, because its program stops: `CancelToken::drain`.
    /// `Threads::resume_pending` resumes it in the next program.
    Drained,
}

impl RunStatus {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 7] = [
        Self::Done,
        Self::Running,
        Self::Interrupted,
        Self::Failed,
        Self::Cancelled,
        Self::TimedOut,
        Self::Drained,
    ];

    /// A number for savers to store. It never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Running => 1,
            Self::Interrupted => 2,
            Self::Failed => 3,
            Self::Cancelled => 4,
            Self::TimedOut => 5,
            Self::Drained => 6,
        }
    }

    /// The status of a stored number; `None` for a number that is never stored.
    pub fn from_code(code: i64) -> Option<Self> {
        let index = usize::try_from(code).ok()?;
        Self::ALL.get(index).copied()
    }

    /// True while a run is under way, or vanished.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Running)
    }
}
