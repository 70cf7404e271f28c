//! A thread in memory.

use std::collections::BTreeMap;
use std::time::Instant;

use super::log::Log;

#[derive(Default)]
pub(super) struct Thread {
    /// By the path of nodes to the graph.
    pub(super) logs: BTreeMap<Vec<String>, Log>,
    pub(super) lease: Option<Lease>,
}

/// The lease of a thread.
pub(super) struct Lease {
    pub(super) holder: String,
    pub(super) until: Instant,
}

impl Thread {
    /// Returns the root graph's log.
    pub(super) fn root(&self) -> Option<&Log> {
        self.logs.get(&[] as &[String])
    }

    pub(super) fn root_mut(&mut self) -> Option<&mut Log> {
        self.logs.get_mut(&[] as &[String])
    }
}
