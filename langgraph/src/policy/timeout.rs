//! Time limits of a node.

use std::fmt;
use std::time::Duration;

/// A node took longer than it may.
///
/// It is retried like any other error, unless a predicate of the policy says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("exceeded its {kind} timeout of {limit:?}")]
#[non_exhaustive]
pub struct NodeTimeout {
    /// Which limit was exceeded.
    pub kind: TimeoutKind,
    /// That limit.
    pub limit: Duration,
}

/// Which time limit of a node was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// The limit of one attempt.
    Run,
    /// The limit of the time without progress.
    Idle,
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::Idle => "idle",
        })
    }
}
