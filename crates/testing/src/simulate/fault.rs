//! What a simulation does to a graph.

use std::fmt;

/// What a simulation does to a graph, beside the order in which its tasks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The process ends: at an `.await` of a node, after an effect, or at a call of the saver.
    Crash,
    /// A call of the saver fails, before or after it has happened.
    Saver,
    /// A run is dropped.
    Cancel,
    /// The program stops: a run ends behind its superstep, by [`CancelToken::drain`](langgraph::run::CancelToken::drain).
    Drain,
    /// Another client continues the thread while a run is active on it.
    Rival,
    /// Another process takes the thread from a run, which goes on until it notices.
    LostLease,
    /// An answer to an interrupt comes late.
    LateAnswer,
    /// An answer to an interrupt is sent twice.
    DoubleAnswer,
    /// The answer to an earlier interrupt is sent again.
    StaleAnswer,
    /// The model is away, does not answer in time, or answers by half.
    Model,
    /// The reader of a run's stream is slow.
    SlowReader,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Crash,
        Self::Saver,
        Self::Cancel,
        Self::Drain,
        Self::Rival,
        Self::LostLease,
        Self::LateAnswer,
        Self::DoubleAnswer,
        Self::StaleAnswer,
        Self::Model,
        Self::SlowReader,
    ];

    /// Returns how rare the fault is in a seed that has it: one of two to the power of a number in the
    /// range. What has many occasions in a run is rarer.
    pub(super) fn rarity(self) -> std::ops::Range<u32> {
        match self {
            Self::Crash | Self::Saver => 2..8,
            _ => 0..3,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crash => "crash",
            Self::Saver => "failing saver",
            Self::Cancel => "cancelled run",
            Self::Drain => "drained run",
            Self::Rival => "rival run",
            Self::LostLease => "lost lease",
            Self::LateAnswer => "late answer",
            Self::DoubleAnswer => "double answer",
            Self::StaleAnswer => "stale answer",
            Self::Model => "failing model",
            Self::SlowReader => "slow reader",
        })
    }
}
