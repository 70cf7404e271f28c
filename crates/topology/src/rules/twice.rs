//! The rules about duplicates. They skip impossible edges, which have rules of their own.

use std::collections::HashMap;

use super::{At, Finding, JoinPart, Rule};
use crate::names::Names;
use crate::{END, Join, NodeName, START, Topology};

/// An edge exists twice. It counts once; a join of one node is an edge.
pub fn duplicate_edge(topology: &Topology) -> Vec<Finding> {
    let mut seen: HashMap<(&str, &str), At> = HashMap::new();
    let mut found = Vec::new();
    let mut check = |at, from, to| {
        if from == END || to == START {
            return;
        }
        let first = *seen.entry((from, to)).or_insert(at);
        if first != at {
            found.push(Finding::new(Rule::DuplicateEdge { first }, at));
        }
    };
    for (edge, line) in topology.edges.iter().enumerate() {
        check(At::Edge(edge), &line.from, &line.to);
    }
    for (join, line) in topology.joins.iter().enumerate() {
        if let [only] = sources(line).as_slice() {
            check(At::Join(join, JoinPart::Whole), only, &line.target);
        }
    }
    found
}

/// Two joins have the same sources and the same target.
pub fn duplicate_join(topology: &Topology) -> Vec<Finding> {
    let mut seen: HashMap<(Vec<&str>, &str), usize> = HashMap::new();
    let mut found = Vec::new();
    for (at, join) in topology.joins.iter().enumerate() {
        let sources = sources(join);
        let impossible = sources.iter().any(|source| matches!(*source, START | END));
        if sources.len() < 2 || impossible || &*join.target == START {
            continue;
        }
        let first = *seen.entry((sources, &join.target)).or_insert(at);
        if first != at {
            let at = At::Join(at, JoinPart::Whole);
            found.push(Finding::new(Rule::DuplicateJoin { first }, at));
        }
    }
    found
}

/// A join names a source twice. It waits for it once.
pub fn duplicate_join_source(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    for (join, line) in topology.joins.iter().enumerate() {
        for (first, source) in again(&line.sources, &[START, END]) {
            let at = At::Join(join, JoinPart::Source(source));
            found.push(Finding::new(Rule::DuplicateJoinSource { first }, at));
        }
    }
    found
}

/// An arm, or a list of destinations, names a target twice.
pub fn duplicate_target(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    for (branch, line) in topology.branches.iter().enumerate() {
        for (arm, answer) in line.arms.iter().flatten().enumerate() {
            for (first, target) in again(&answer.targets, &[START]) {
                let at = At::Answer {
                    branch,
                    arm,
                    target,
                };
                found.push(Finding::new(Rule::DuplicateTarget { first }, at));
            }
        }
    }
    for (list, line) in topology.destinations.iter().enumerate() {
        for (first, target) in again(&line.targets, &[START]) {
            let at = At::Destination { list, target };
            found.push(Finding::new(Rule::DuplicateTarget { first }, at));
        }
    }
    found
}

/// Returns the repeated names: the index of the first occurrence, and the index of the repetition.
fn again(names: &[NodeName], impossible: &[&str]) -> Vec<(usize, usize)> {
    let mut seen = Names::default();
    let mut again = Vec::new();
    for (place, name) in names.iter().enumerate() {
        if impossible.contains(&&**name) {
            continue;
        }
        let first = seen.first(name, place);
        if first != place {
            again.push((first, place));
        }
    }
    again
}

/// Returns the sources of a join, sorted and without duplicates.
pub(crate) fn sources(join: &Join) -> Vec<&str> {
    let mut sources: Vec<&str> = Vec::new();
    for name in &join.sources {
        let place = sources.partition_point(|known| *known < &**name);
        if sources.get(place) != Some(&&**name) {
            sources.insert(place, name);
        }
    }
    sources
}
