//! The lease of a thread that a transaction takes.

use std::time::Duration;

/// The lease of a thread that a transaction takes.
pub(crate) struct LeaseOfThread {
    /// The statement that has to return a row, by its number.
    pub(super) with: usize,
    pub(super) thread: String,
    pub(super) holder: String,
    pub(super) term: Duration,
}
