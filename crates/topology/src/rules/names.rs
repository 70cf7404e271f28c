//! The rules about names of nodes.

use super::{At, Finding, Rule};
use crate::names::Names;
use crate::{END, START, Topology};

/// Two nodes have one name.
pub fn duplicate_node(topology: &Topology) -> Vec<Finding> {
    let mut names = Names::default();
    let mut repeated: Vec<Vec<usize>> = vec![Vec::new(); topology.nodes.len()];
    for (node, info) in topology.nodes.iter().enumerate() {
        let first = names.first(&info.name, node);
        if first != node
            && let Some(again) = repeated.get_mut(first)
        {
            again.push(node);
        }
    }
    let mut found = Vec::new();
    for (first, again) in repeated.into_iter().enumerate() {
        if !again.is_empty() {
            found.push(Finding::new(Rule::DuplicateNode { again }, At::Node(first)));
        }
    }
    found
}

/// A node has no name.
pub fn empty_name(topology: &Topology) -> Vec<Finding> {
    by_name(topology, &|name| name.is_empty().then_some(Rule::EmptyName))
}

/// A node has the name of START or END.
pub fn reserved_name(topology: &Topology) -> Vec<Finding> {
    by_name(topology, &|name| {
        matches!(name, START | END).then_some(Rule::ReservedName)
    })
}

/// A node's name has a character that separates names in paths.
pub fn reserved_character(topology: &Topology) -> Vec<Finding> {
    by_name(topology, &|name| {
        let character = name.chars().find(|c| matches!(c, '|' | ':'))?;
        Some(Rule::ReservedCharacter { character })
    })
}

fn by_name(topology: &Topology, rule: &dyn Fn(&str) -> Option<Rule>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (node, info) in topology.nodes.iter().enumerate() {
        if let Some(rule) = rule(&info.name) {
            found.push(Finding::new(rule, At::Node(node)));
        }
    }
    found
}
