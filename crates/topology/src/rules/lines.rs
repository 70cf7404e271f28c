//! The rules about single edges: impossible ones and required ones.

use std::collections::HashSet;

use super::{At, Finding, JoinPart, Rule, answers, lines};
use crate::{END, NodeKind, NodeName, START, Topology};

/// An edge starts at END.
pub fn end_as_source(topology: &Topology) -> Vec<Finding> {
    let edges = topology.edges.iter().enumerate();
    let edges = edges.map(|(edge, line)| (At::Edge(edge), &line.from));
    let branches = topology.branches.iter().enumerate();
    let branches = branches.map(|(branch, line)| (At::Branch(branch), &line.source));
    let lists = topology.destinations.iter().enumerate();
    let lists = lists.map(|(list, line)| (At::Destinations(list), &line.source));
    let sources = edges.chain(join_sources(topology)).chain(branches);
    sources
        .chain(lists)
        .filter(|(_, source)| &***source == END)
        .map(|(at, _)| Finding::new(Rule::EndAsSource, at))
        .collect()
}

/// An edge leads to START.
pub fn start_as_target(topology: &Topology) -> Vec<Finding> {
    let joins = topology.joins.iter().enumerate();
    let joins = joins.map(|(join, line)| (At::Join(join, JoinPart::Target), &line.target));
    let targets = lines(topology).map(|(at, _, to)| (at, to)).chain(joins);
    let mut found: Vec<Finding> = targets
        .filter(|(_, target)| &***target == START)
        .map(|(at, _)| Finding::new(Rule::StartAsTarget, at))
        .collect();
    found.sort_by_key(|finding| finding.at);
    found
}

/// A join waits for START.
pub fn start_in_join(topology: &Topology) -> Vec<Finding> {
    join_sources(topology)
        .filter(|(_, source)| &***source == START)
        .map(|(at, _)| Finding::new(Rule::StartInJoin, at))
        .collect()
}

/// A join waits for nothing.
pub fn empty_join(topology: &Topology) -> Vec<Finding> {
    let joins = topology.joins.iter().enumerate();
    joins
        .filter(|(_, join)| join.sources.is_empty())
        .map(|(join, _)| Finding::new(Rule::EmptyJoin, At::Join(join, JoinPart::Whole)))
        .collect()
}

/// No edge starts at START.
pub fn no_entry_point(topology: &Topology) -> Vec<Finding> {
    let edges = topology.edges.iter().map(|edge| &edge.from);
    let branches = topology.branches.iter().map(|branch| &branch.source);
    if edges.chain(branches).any(|from| &**from == START) {
        return Vec::new();
    }
    vec![Finding::new(Rule::NoEntryPoint, At::Graph)]
}

/// A plain edge leads to a worker, which needs an item.
pub fn worker_without_item(topology: &Topology) -> Vec<Finding> {
    let mut known: HashSet<&str> = HashSet::new();
    // If several nodes share a name, the first counts.
    let nodes = topology
        .nodes
        .iter()
        .filter(|node| known.insert(&node.name));
    let workers = nodes.filter(|node| node.kind == NodeKind::Worker);
    let workers: HashSet<&str> = workers.map(|node| &*node.name).collect();
    if workers.is_empty() {
        return Vec::new();
    }
    let edges = topology.edges.iter().enumerate();
    let edges = edges.map(|(edge, line)| (At::Edge(edge), &line.to));
    let joins = topology.joins.iter().enumerate();
    let joins = joins.filter(|(_, line)| !line.sources.is_empty());
    let joins = joins.map(|(join, line)| (At::Join(join, JoinPart::Target), &line.target));
    // The router of an open graph may turn an arm into sends.
    let answers = answers(topology).filter(|(at, ..)| topology.closed && !is_map(topology, *at));
    let answers = answers.map(|(at, _, to)| (at, to));
    edges
        .chain(joins)
        .chain(answers)
        .filter(|(_, to)| workers.contains(&***to))
        .map(|(at, _)| Finding::new(Rule::WorkerWithoutItem, at))
        .collect()
}

/// A node may jump, does not declare its targets, and all routes of the graph are known.
pub fn undeclared_goto(topology: &Topology) -> Vec<Finding> {
    if !topology.closed {
        return Vec::new();
    }
    let lists = topology.destinations.iter();
    let declared: HashSet<&str> = lists.map(|from| &*from.source).collect();
    let nodes = topology.nodes.iter().enumerate();
    nodes
        .filter(|(_, node)| node.may_goto && !declared.contains(&*node.name))
        .map(|(node, _)| Finding::new(Rule::UndeclaredGoto, At::Node(node)))
        .collect()
}

fn is_map(topology: &Topology, at: At) -> bool {
    let At::Answer { branch, arm, .. } = at else {
        return false;
    };
    let arms = topology.branches.get(branch);
    let arms = arms.and_then(|branch| branch.arms.as_ref());
    arms.and_then(|arms| arms.get(arm))
        .is_some_and(|arm| arm.map)
}

fn join_sources(topology: &Topology) -> impl Iterator<Item = (At, &NodeName)> {
    let joins = topology.joins.iter().enumerate();
    joins.flat_map(|(join, line)| {
        let sources = line.sources.iter().enumerate();
        sources.map(move |(source, name)| (At::Join(join, JoinPart::Source(source)), name))
    })
}
