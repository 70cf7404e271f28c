//! The rules about aliases, which are not part of a topology.

use super::{At, Finding, Rule, names};
use crate::{NodeName, Topology};

/// An alias points to a node that does not exist. Each pair is an alias and its node.
pub fn unknown_alias_node(topology: &Topology, aliases: &[(NodeName, NodeName)]) -> Vec<Finding> {
    let known = names(topology);
    let aliases = aliases.iter().enumerate();
    aliases
        .filter(|(_, (_, node))| !known.contains(&**node))
        .map(|(alias, _)| Finding::new(Rule::UnknownAliasNode, At::Alias(alias)))
        .collect()
}

/// An alias already belongs to another node, or is the name of one.
pub fn alias_taken(topology: &Topology, aliases: &[(NodeName, NodeName)]) -> Vec<Finding> {
    let known = names(topology);
    let mut seen: Vec<(&NodeName, &NodeName)> = Vec::new();
    let mut found = Vec::new();
    let pairs = aliases.iter().enumerate();
    for (at, (alias, node)) in pairs.filter(|(_, (_, node))| known.contains(&**node)) {
        let another = seen.iter().any(|(name, of)| *name == alias && *of != node);
        if another || known.contains(&**alias) {
            found.push(Finding::new(Rule::AliasTaken, At::Alias(at)));
        }
        seen.push((alias, node));
    }
    found
}
