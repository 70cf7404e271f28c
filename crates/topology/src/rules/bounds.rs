//! The rules about bounds of edges.

use super::{At, Finding, Rule, in_place};
use crate::algo::{Components, cycle_through};
use crate::flow::{Analysis, NODES, node_of};
use crate::{END, NodeKind, NodeName, Topology};

/// A bound is that of an edge that does not exist, or leads to END. An edge whose target is only known at run time exists.
pub fn bound_without_edge(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    for (place, bound) in topology.edge_bounds.iter().enumerate() {
        if !leads(topology, &bound.from, &bound.to) {
            found.push(Finding::new(Rule::BoundWithoutEdge, At::Exit(place)));
        }
    }
    found
}

fn leads(topology: &Topology, from: &NodeName, to: &NodeName) -> bool {
    if &**to == END {
        return false;
    }
    let mut edges = topology.edges.iter();
    let mut branches = topology.branches.iter();
    let mut lists = topology.destinations.iter();
    let listed = lists
        .clone()
        .any(|list| list.source == *from && list.targets.contains(to));
    edges.any(|edge| edge.from == *from && edge.to == *to)
        || branches.any(|branch| {
            let mut arms = branch.arms.iter().flatten();
            let known = branch.arms.is_some();
            branch.source == *from && (!known || arms.any(|arm| arm.targets.contains(to)))
        })
        || listed
        || topology.node(from).is_some_and(|node| {
            node.may_goto && !topology.closed && !lists.any(|list| list.source == *from)
        })
}

/// An edge has a second bound. Every way between two nodes is one edge here.
pub fn duplicate_bound(topology: &Topology) -> Vec<Finding> {
    let bounds = &topology.edge_bounds;
    let mut found = Vec::new();
    for (place, bound) in bounds.iter().enumerate() {
        let is_same = |known: &crate::EdgeBound| known.from == bound.from && known.to == bound.to;
        if let Some(first) = bounds
            .iter()
            .position(is_same)
            .filter(|first| *first < place)
        {
            found.push(Finding::new(
                Rule::DuplicateBound { first },
                At::Exit(place),
            ));
        }
    }
    found
}

/// Nothing bounds how often a cycle is run, or how many items a map starts.
pub fn endless(topology: &Topology, analysis: &Analysis<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let lines = analysis.unbounded_lines();
    let components = Components::new(&lines);
    for members in components.all() {
        let first = members.iter().find(|member| **member >= NODES).copied();
        if let (true, Some(first)) = (Components::is_cycle(&lines, members), first)
            && analysis.reached.get(first)
        {
            let mut cycle = cycle_through(&lines, &components, first);
            // The vertex after the nodes is no node.
            cycle.retain(|vertex| analysis.nodes().contains(vertex));
            for vertex in &mut cycle {
                *vertex = node_of(*vertex);
            }
            let at = At::Node(node_of(first));
            found.push(Finding::new(Rule::EndlessCycle { cycle }, at));
        }
    }
    for (place, node) in topology.nodes.iter().enumerate() {
        if node.kind == NodeKind::Worker && is_endless_worker(analysis, NODES + place) {
            found.push(Finding::new(Rule::EndlessMap, At::Node(place)));
        }
    }
    in_place(vec![found])
}

/// Returns true if an edge without a bound leads to the worker.
fn is_endless_worker(analysis: &Analysis<'_>, worker: usize) -> bool {
    let lines = analysis.unbounded_lines();
    let mut vertices = 0..lines.size();
    vertices.any(|from| analysis.reached.get(from) && lines.from(from).contains(&worker))
}
