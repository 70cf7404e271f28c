//! The rules about single edges: impossible ones and required ones.

use super::mentions::{Mention, Mentions};
use super::{At, Finding, JoinPart, Rule, in_place};
use crate::names::Names;
use crate::{END, NodeKind, START, Topology};

/// An edge starts at END.
pub fn end_as_source(topology: &Topology) -> Vec<Finding> {
    let sources = Mentions::sources(topology).and(Mentions::join_sources(topology));
    in_place(vec![
        sources.report(&Rule::EndAsSource, &|from| from.name == END),
    ])
}

/// An edge leads to START.
pub fn start_as_target(topology: &Topology) -> Vec<Finding> {
    let targets = Mentions::targets(topology).and(Mentions::join_targets(topology));
    in_place(vec![
        targets.report(&Rule::StartAsTarget, &|to| to.name == START),
    ])
}

/// A join waits for START.
pub fn start_in_join(topology: &Topology) -> Vec<Finding> {
    let sources = Mentions::join_sources(topology);
    sources.report(&Rule::StartInJoin, &|from| from.name == START)
}

/// A join waits for nothing.
pub fn empty_join(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    for (join, line) in topology.joins.iter().enumerate() {
        if line.sources.is_empty() {
            let at = At::Join(join, JoinPart::Whole);
            found.push(Finding::new(Rule::EmptyJoin, at));
        }
    }
    found
}

/// No edge starts at START.
pub fn no_entry_point(topology: &Topology) -> Vec<Finding> {
    let starts = |from: &str| from == START;
    if topology.edges.iter().any(|edge| starts(&edge.from))
        || topology.branches.iter().any(|line| starts(&line.source))
    {
        return Vec::new();
    }
    vec![Finding::new(Rule::NoEntryPoint, At::Graph)]
}

/// A plain edge leads to a worker, which needs an item.
pub fn worker_without_item(topology: &Topology) -> Vec<Finding> {
    let is_worker = |node: usize| {
        let node = topology.nodes.get(node);
        node.is_some_and(|node| node.kind == NodeKind::Worker)
    };
    if !(0..topology.nodes.len()).any(is_worker) {
        return Vec::new();
    }
    let mut targets = Mentions::plain_targets(topology).and(Mentions::join_targets(topology));
    if topology.closed {
        // The router of an open graph may turn an arm into sends.
        targets = targets.and(Mentions::answers(topology));
    }
    // If several nodes share a name, the first counts.
    let nodes = Names::of_nodes(topology);
    targets.report(&Rule::WorkerWithoutItem, &|to| {
        nodes.get(to.name).is_some_and(is_worker) && !has_item(topology, to)
    })
}

/// A node may jump, does not declare its targets, and all routes of the graph are known.
pub fn undeclared_goto(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    if !topology.closed {
        return found;
    }
    let declared = Names::of_destinations(topology);
    for (node, info) in topology.nodes.iter().enumerate() {
        if info.may_goto && !declared.contains(&info.name) {
            found.push(Finding::new(Rule::UndeclaredGoto, At::Node(node)));
        }
    }
    found
}

/// Returns true if the edge gives its target an item, or never leads to it: a join of nothing.
fn has_item(topology: &Topology, target: Mention<'_>) -> bool {
    match target.at {
        At::Answer { branch, arm, .. } => {
            let branch = topology.branches.get(branch);
            let arms = branch.and_then(|branch| branch.arms.as_ref());
            arms.and_then(|arms| arms.get(arm))
                .is_some_and(|arm| arm.map)
        }
        At::Join(join, _) => {
            let join = topology.joins.get(join);
            join.is_some_and(|join| join.sources.is_empty())
        }
        _ => false,
    }
}
