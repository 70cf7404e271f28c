//! The rules about aliases, which are not part of a topology.

use super::{At, Finding, Rule};
use crate::names::Names;
use crate::{NodeName, Topology};

/// An alias points to a node that does not exist. Each pair is an alias and its node.
pub fn unknown_alias_node(topology: &Topology, aliases: &[(NodeName, NodeName)]) -> Vec<Finding> {
    let known = Names::of_nodes(topology);
    let mut found = Vec::new();
    for (at, (_, node)) in aliases.iter().enumerate() {
        if !known.contains(node) {
            found.push(Finding::new(Rule::UnknownAliasNode, At::Alias(at)));
        }
    }
    found
}

/// An alias already belongs to another node, or is the name of one.
pub fn alias_taken(topology: &Topology, aliases: &[(NodeName, NodeName)]) -> Vec<Finding> {
    let known = Names::of_nodes(topology);
    let mut seen: Vec<(&NodeName, &NodeName)> = Vec::new();
    let mut found = Vec::new();
    for (at, (alias, node)) in aliases.iter().enumerate() {
        if !known.contains(node) {
            continue;
        }
        let another = seen.iter().any(|(name, of)| *name == alias && *of != node);
        if another || known.contains(alias) {
            found.push(Finding::new(Rule::AliasTaken, At::Alias(at)));
        }
        seen.push((alias, node));
    }
    found
}
