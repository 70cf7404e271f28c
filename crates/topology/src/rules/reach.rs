//! The rules about reachability.

use super::{At, Finding, Rule};
use crate::Topology;
use crate::algo::Table;
use crate::flow::{Analysis, node_of};

/// A graph without nodes.
pub fn empty_graph(topology: &Topology) -> Vec<Finding> {
    if topology.nodes.is_empty() {
        return vec![Finding::new(Rule::EmptyGraph, At::Graph)];
    }
    Vec::new()
}

/// No path leads from START to a node. Each finding lists the nodes that are only reachable through
/// it.
pub fn unreachable_node(analysis: &Analysis<'_>) -> Vec<Finding> {
    let Analysis {
        lines,
        reached,
        components,
        ..
    } = analysis;
    // Predecessors of an unreachable node are unreachable too. The findings are the components
    // without predecessors; the rest follows from them.
    let mut led_to = Table::new(components.all().len(), false);
    for node in analysis.nodes() {
        if reached.get(node) {
            continue;
        }
        for &next in lines.from(node) {
            if components.of(next) != components.of(node) {
                led_to.set(components.of(next), true);
            }
        }
    }
    let mut reported = reached.clone();
    let mut found = Vec::new();
    for node in analysis.nodes() {
        if reported.get(node) || led_to.get(components.of(node)) {
            continue;
        }
        reported.set(node, true);
        let mut followers = Vec::new();
        let mut open = vec![node];
        while let Some(vertex) = open.pop() {
            for &next in lines.from(vertex) {
                if analysis.nodes().contains(&next) && reported.replace(next, true) {
                    followers.push(node_of(next));
                    open.push(next);
                }
            }
        }
        followers.sort_unstable();
        let at = At::Node(node_of(node));
        found.push(Finding::new(Rule::UnreachableNode { followers }, at));
    }
    found
}

/// A node has no successor, not even END.
pub fn dead_end(analysis: &Analysis<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for node in analysis.nodes() {
        if analysis.reached.get(node) && analysis.lines.from(node).is_empty() {
            found.push(Finding::new(Rule::DeadEnd, At::Node(node_of(node))));
        }
    }
    found
}
