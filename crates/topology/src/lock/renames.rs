//! The nodes of a graph by the names that threads have stored.

use crate::{END, NodeInfo, NodeName, START, Topology};

/// The graph of today, for names that threads have stored.
#[derive(Clone, Copy)]
pub(super) struct Renames<'a>(pub(super) &'a Topology);

impl<'a> Renames<'a> {
    pub(super) fn node(self, stored: &str) -> Option<&'a NodeInfo> {
        self.0.stored_node(stored)
    }

    /// Returns the name of today; START and END keep theirs.
    pub(super) fn name(self, stored: &str) -> Option<&'a str> {
        match stored {
            START => Some(START),
            END => Some(END),
            stored => self.node(stored).map(|node| &*node.name),
        }
    }

    /// Returns the names of today in order; nothing if one of them is gone.
    pub(super) fn all(self, stored: &[NodeName]) -> Option<Vec<&'a str>> {
        let names = stored.iter().map(|name| self.name(name));
        let mut names: Vec<&str> = names.collect::<Option<_>>()?;
        names.sort_unstable();
        Some(names)
    }
}
