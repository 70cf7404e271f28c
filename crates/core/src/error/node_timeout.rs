//! Time limits of a node.

use std::fmt;
use std::time::Duration;

/// The error of a node that exceeded a time limit.
///
/// It is retried like any other error, unless a predicate of the policy refuses it.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("exceeded its {kind} timeout of {limit:?}")]
#[non_exhaustive]
pub struct NodeTimeout {
    /// The kind of the limit.
    pub kind: TimeoutKind,
    /// The limit.
    pub limit: Duration,
}

impl NodeTimeout {
    /// Creates the error of a node that exceeded `limit`.
    pub const fn new(kind: TimeoutKind, limit: Duration) -> Self {
        Self { kind, limit }
    }
}

/// The kind of an exceeded time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// The time limit of one attempt.
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

crate::debug_is_message!(NodeTimeout);
