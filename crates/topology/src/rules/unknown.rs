//! The rules about unknown names.

use std::collections::HashSet;

use super::{At, Finding, JoinPart, Rule, lines, names};
use crate::{Breakpoints, END, NodeName, START, Topology};

/// An edge starts at a node that does not exist. Each name is reported once.
pub fn unknown_source(topology: &Topology) -> Vec<Finding> {
    let known = names(topology);
    let edges = topology.edges.iter().enumerate();
    let edges = edges.map(|(edge, line)| (At::Edge(edge), &line.from));
    let branches = topology.branches.iter().enumerate();
    let branches = branches.map(|(branch, line)| (At::Branch(branch), &line.source));
    let lists = topology.destinations.iter().enumerate();
    let lists = lists.map(|(list, line)| (At::Destinations(list), &line.source));
    let mut told: HashSet<&str> = HashSet::new();
    edges
        .chain(branches)
        .chain(lists)
        .filter(|(_, node)| !is_end(node) && !known.contains(&***node) && told.insert(node))
        .map(|(at, _)| Finding::new(Rule::UnknownSource, at))
        .collect()
}

/// An edge leads to a node that does not exist.
pub fn unknown_target(topology: &Topology) -> Vec<Finding> {
    let known = names(topology);
    lines(topology)
        .filter(|(.., node)| !is_end(node) && !known.contains(&***node))
        .map(|(at, ..)| Finding::new(Rule::UnknownTarget, at))
        .collect()
}

/// A join names a node that does not exist, as a source or as its target.
pub fn unknown_join_node(topology: &Topology) -> Vec<Finding> {
    let known = names(topology);
    let joins = topology.joins.iter().enumerate();
    let nodes = joins.flat_map(|(join, line)| {
        let sources = line.sources.iter().enumerate();
        let sources = sources.map(|(source, name)| (JoinPart::Source(source), name));
        let nodes = sources.chain([(JoinPart::Target, &line.target)]);
        nodes.map(move |(part, name)| (At::Join(join, part), name))
    });
    nodes
        .filter(|(_, node)| !is_end(node) && !known.contains(&***node))
        .map(|(at, _)| Finding::new(Rule::UnknownJoinNode, at))
        .collect()
}

/// A list of breakpoints names a node that does not exist.
pub fn unknown_interrupt_node(topology: &Topology) -> Vec<Finding> {
    let known = names(topology);
    let before =
        breakpoints(&topology.interrupt_before).map(|(at, node)| (At::InterruptBefore(at), node));
    let after =
        breakpoints(&topology.interrupt_after).map(|(at, node)| (At::InterruptAfter(at), node));
    before
        .chain(after)
        .filter(|(_, node)| !known.contains(&***node))
        .map(|(at, _)| Finding::new(Rule::UnknownInterruptNode, at))
        .collect()
}

fn breakpoints(list: &Breakpoints) -> impl Iterator<Item = (usize, &NodeName)> {
    let nodes = match list {
        Breakpoints::Nodes(nodes) => nodes.as_slice(),
        Breakpoints::None | Breakpoints::All => &[],
    };
    nodes.iter().enumerate()
}

/// Returns true for START and END, which other rules check.
fn is_end(name: &str) -> bool {
    matches!(name, START | END)
}
