//! Copies of a topology. Here they are compiled once: a derived `clone` is compiled where it is
//! called, and so for each state.

use super::{NodeInfo, Topology};

pub(crate) fn copy_of(topology: &Topology) -> Topology {
    topology.clone()
}

/// Adds a copy of a node's description.
pub(crate) fn add_info(topology: &mut Topology, info: &NodeInfo) {
    topology.nodes.push(info.clone());
}
