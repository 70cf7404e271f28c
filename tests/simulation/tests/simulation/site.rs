//! What all hosts of a world share.

use std::path::PathBuf;
use std::sync::Arc;

use crate::books::Books;
use crate::ledger::Ledger;
use crate::network::Network;
use crate::world::World;

#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) world: World,
    pub(crate) network: Network,
    pub(crate) ledger: Arc<Ledger>,
    /// The database of the servers.
    pub(crate) file: PathBuf,
    /// True if there is an agent behind a relay.
    pub(crate) has_agent: bool,
    /// How many workers there are.
    pub(crate) workers: usize,
    /// True if no worker is lost, and no host is parted: nothing but the loss of a message is to be noticed.
    pub(crate) is_calm: bool,
    /// How many clerks there are.
    pub(crate) clerks: usize,
    pub(crate) books: Books,
}

impl Site {
    /// Returns true if there are hosts that only servers reach.
    pub(crate) fn has_hosts_behind(&self) -> bool {
        self.has_agent || self.workers > 0
    }
}
