//! The nodes of a graph by name.

use std::sync::Arc;

use super::stops::Stops;
use super::{Arm, Breakpoints, NodeName, START, Topology};
use crate::node::NodeId;

/// The nodes of a graph by name, for its compilation and for names that arrive at run time.
pub(super) struct Index<'a> {
    pub(super) names: &'a [NodeName],
    pub(super) by_name: &'a [NodeId],
}

impl Index<'_> {
    pub(super) fn of(&self, name: &str) -> Option<NodeId> {
        let at = self.by_name.binary_search_by(|index| {
            self.names
                .get(index.index())
                .map_or(std::cmp::Ordering::Greater, |known| (**known).cmp(name))
        });
        self.by_name.get(at.ok()?).copied()
    }

    /// Returns the node of that name, or START.
    pub(super) fn source(&self, name: &str) -> Option<NodeId> {
        if name == START {
            Some(NodeId::START)
        } else {
            self.of(name)
        }
    }

    /// Returns the declared nodes of these names.
    pub(super) fn all(&self, names: &[NodeName]) -> Vec<NodeId> {
        names.iter().filter_map(|name| self.of(name)).collect()
    }

    pub(super) fn names(&self, nodes: &[NodeId]) -> Vec<NodeName> {
        let names = nodes.iter().filter_map(|node| self.names.get(node.index()));
        names.cloned().collect()
    }

    /// Returns the nodes of each arm.
    pub(super) fn arms(&self, arms: &[Arm]) -> Box<[Box<[NodeId]>]> {
        arms.iter()
            .map(|arm| self.all(&arm.targets).into())
            .collect()
    }

    /// Returns the allowed jump targets of a node, if jumps are checked.
    pub(super) fn destinations(
        &self,
        topology: &Topology,
        node: &NodeName,
    ) -> Option<Box<[NodeId]>> {
        let lists = topology.destinations.iter();
        let declared = lists.filter(|list| list.source == *node);
        let targets = || declared.flat_map(|list| self.all(&list.targets)).collect();
        topology.closed.then(targets)
    }

    pub(super) fn aliases(&self, aliases: Vec<(NodeName, NodeName)>) -> Box<[(NodeName, NodeId)]> {
        let aliases = aliases.into_iter();
        aliases
            .filter_map(|(old, node)| Some((old, self.of(&node)?)))
            .collect()
    }

    pub(super) fn stops(&self, breakpoints: &Breakpoints) -> Result<Stops, NodeName> {
        Ok(match breakpoints {
            Breakpoints::None => Stops::Never,
            Breakpoints::All => Stops::Always,
            Breakpoints::Nodes(names) => {
                let find = |name: &NodeName| self.of(name).ok_or_else(|| Arc::clone(name));
                Stops::At(names.iter().map(find).collect::<Result<_, _>>()?)
            }
        })
    }
}

/// Returns START, then the names of the nodes.
pub(super) fn names_of(topology: &Topology) -> Arc<[NodeName]> {
    let declared = topology.nodes.iter().map(|node| Arc::clone(&node.name));
    std::iter::once(START.into()).chain(declared).collect()
}

/// Returns the declared nodes, sorted by name.
pub(super) fn sorted_by_name(names: &[NodeName]) -> Box<[NodeId]> {
    let mut by_name: Vec<NodeId> = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate().skip(1) {
        let is_before = |known: &NodeId| names.get(known.index()) < Some(name);
        by_name.insert(by_name.partition_point(is_before), NodeId::at(index));
    }
    by_name.into()
}
