//! What a relay carries.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) connections: AtomicU64,
    pub(crate) frames: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) refused: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }
}

/// What a relay carries. Displayed, it is one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelayMetrics {
    /// The open connections.
    pub connections: u64,
    /// The registered agents.
    pub agents: u64,
    /// The frames that went from an agent to another.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The frames that found no room, or no receiver.
    pub dropped: u64,
    /// The connections that were closed for what they did, and the registrations that were refused.
    pub refused: u64,
}

impl fmt::Display for RelayMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "connections={} agents={} frames={} bytes={} dropped={} refused={}",
            self.connections, self.agents, self.frames, self.bytes, self.dropped, self.refused
        )
    }
}
