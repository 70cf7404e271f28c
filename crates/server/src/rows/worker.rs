//! A process that carries out runs.

use std::time::Duration;

/// A process that carries out one more run.
#[derive(Clone, Copy)]
pub(crate) struct Worker<'a> {
    pub(crate) name: &'a str,
    pub(crate) lease: Duration,
    /// How long it holds the thread without a renewal.
    pub(crate) term: Duration,
    /// The events of the run are stored, and need numbers.
    pub(crate) stores_events: bool,
}
