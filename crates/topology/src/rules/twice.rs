//! The rules about duplicates. They skip impossible edges, which have rules of their own.

use std::collections::{BTreeSet, HashMap};

use super::{At, Finding, JoinPart, Rule};
use crate::{END, Join, NodeName, START, Topology};

/// An edge exists twice. It counts once; a join of one node is an edge.
pub fn duplicate_edge(topology: &Topology) -> Vec<Finding> {
    let edges = topology.edges.iter().enumerate();
    let edges = edges.map(|(edge, line)| (At::Edge(edge), &*line.from, &*line.to));
    let joins = topology.joins.iter().enumerate();
    let joins = joins.filter_map(|(join, line)| match sources(line).as_slice() {
        [only] => Some((At::Join(join, JoinPart::Whole), *only, &*line.target)),
        _ => None,
    });
    let lines = edges.chain(joins);
    let mut seen: HashMap<(&str, &str), At> = HashMap::new();
    let mut found = Vec::new();
    for (at, from, to) in lines.filter(|(_, from, to)| *from != END && *to != START) {
        let first = *seen.entry((from, to)).or_insert(at);
        if first != at {
            found.push(Finding::new(Rule::DuplicateEdge { first }, at));
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
    let joins = topology.joins.iter().enumerate();
    let again = joins.flat_map(|(join, line)| {
        let again = again(&line.sources, &[START, END]);
        again.map(move |(first, source)| {
            let at = At::Join(join, JoinPart::Source(source));
            Finding::new(Rule::DuplicateJoinSource { first }, at)
        })
    });
    again.collect()
}

/// An arm, or a list of destinations, names a target twice.
pub fn duplicate_target(topology: &Topology) -> Vec<Finding> {
    let branches = topology.branches.iter().enumerate();
    let answers = branches.flat_map(|(branch, line)| {
        let arms = line.arms.iter().flatten().enumerate();
        arms.flat_map(move |(arm, answer)| {
            again(&answer.targets, &[START]).map(move |(first, target)| {
                let at = At::Answer {
                    branch,
                    arm,
                    target,
                };
                Finding::new(Rule::DuplicateTarget { first }, at)
            })
        })
    });
    let lists = topology.destinations.iter().enumerate();
    let lists = lists.flat_map(|(list, line)| {
        again(&line.targets, &[START]).map(move |(first, target)| {
            let at = At::Destination { list, target };
            Finding::new(Rule::DuplicateTarget { first }, at)
        })
    });
    answers.chain(lists).collect()
}

/// Returns the repeated names: the index of the first occurrence, and the index of the repetition.
fn again<'a>(
    names: &'a [NodeName],
    impossible: &'a [&str],
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let names = names.iter().enumerate();
    let names = names.filter(|(_, name)| !impossible.contains(&&***name));
    names.filter_map(move |(place, name)| {
        let first = *seen.entry(name).or_insert(place);
        (first != place).then_some((first, place))
    })
}

/// Returns the sources of a join without duplicates.
fn sources(join: &Join) -> Vec<&str> {
    let sources: BTreeSet<&str> = join.sources.iter().map(|source| &**source).collect();
    sources.into_iter().collect()
}
