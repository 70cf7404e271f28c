//! The rules about names of nodes.

use std::collections::HashMap;

use super::{At, Finding, Rule};
use crate::{END, NodeInfo, START, Topology};

/// Two nodes have one name.
pub fn duplicate_node(topology: &Topology) -> Vec<Finding> {
    let mut all: HashMap<&str, Vec<usize>> = HashMap::new();
    for (node, info) in topology.nodes.iter().enumerate() {
        all.entry(&info.name).or_default().push(node);
    }
    let mut found = Vec::new();
    for nodes in all.into_values() {
        if let [first, again @ ..] = nodes.as_slice()
            && !again.is_empty()
        {
            let again = again.to_vec();
            found.push(Finding::new(
                Rule::DuplicateNode { again },
                At::Node(*first),
            ));
        }
    }
    found.sort_by_key(|finding| finding.at);
    found
}

/// A node has no name.
pub fn empty_name(topology: &Topology) -> Vec<Finding> {
    by_node(topology, |info| {
        info.name.is_empty().then_some(Rule::EmptyName)
    })
}

/// A node has the name of START or END.
pub fn reserved_name(topology: &Topology) -> Vec<Finding> {
    by_node(topology, |info| {
        matches!(&*info.name, START | END).then_some(Rule::ReservedName)
    })
}

/// A node's name has a character that separates names in paths.
pub fn reserved_character(topology: &Topology) -> Vec<Finding> {
    by_node(topology, |info| {
        let mut characters = info.name.chars();
        let character = characters.find(|character| matches!(character, '|' | ':'))?;
        Some(Rule::ReservedCharacter { character })
    })
}

fn by_node(topology: &Topology, rule: impl Fn(&NodeInfo) -> Option<Rule>) -> Vec<Finding> {
    let nodes = topology.nodes.iter().enumerate();
    nodes
        .filter_map(|(node, info)| Some(Finding::new(rule(info)?, At::Node(node))))
        .collect()
}
