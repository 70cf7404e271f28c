//! The state of a relay.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::metrics::Counters;
use super::options::RelayOptions;
use super::registry::Registry;

/// What a relay and its connections share.
pub(crate) struct RelayState {
    pub(crate) options: RelayOptions,
    registry: Mutex<Registry>,
    pub(crate) counters: Counters,
    /// Numbers the connections.
    next: AtomicU64,
}

impl RelayState {
    pub(crate) fn new(options: RelayOptions) -> Self {
        Self {
            registry: Mutex::new(Registry::new(&options)),
            options,
            counters: Counters::default(),
            next: AtomicU64::new(0),
        }
    }

    pub(crate) fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of a new connection.
    pub(crate) fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}
