//! The rule about the ways from node to node.

use std::collections::{BTreeMap, BTreeSet};

use super::super::renames::Renames;
use super::Broken;
use crate::{END, Join, Topology};

/// A node no longer leads to a node that it led to, also not through other nodes.
pub(super) fn route_gone(before: &Topology, now: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let ways = Ways::of(before, now, renames);
    // What a join led to is a finding of the join.
    let led = targets(before);
    let mut found = Vec::new();
    for node in &before.nodes {
        let (Some(from), Some(led)) = (renames.name(&node.name), led.get(&*node.name)) else {
            continue;
        };
        let reached = ways.reached(from);
        let mut seen = BTreeSet::new();
        for to in led {
            // A node that is gone is a finding of its own.
            let Some(to) = renames.name(to).filter(|to| *to != END) else {
                continue;
            };
            let is_lost = reached
                .as_ref()
                .is_some_and(|reached| !reached.contains(to));
            if is_lost && seen.insert(to) {
                found.push(Broken::RouteGone {
                    from: from.into(),
                    to: to.into(),
                });
            }
        }
    }
    found
}

/// The ways of a graph for a thread that was started on another one.
struct Ways<'a> {
    /// The targets of edges, routes and jumps.
    targets: BTreeMap<&'a str, Vec<&'a str>>,
    /// The nodes that may go to any node.
    anywhere: BTreeSet<&'a str>,
    /// The joins, each with whether the thread knows it: then it may have seen its other sources.
    joins: Vec<(&'a Join, bool)>,
}

impl<'a> Ways<'a> {
    fn of(before: &Topology, now: &'a Topology, renames: Renames<'a>) -> Self {
        let known: Vec<_> = before
            .joins
            .iter()
            .filter_map(|join| Some((renames.all(&join.sources)?, renames.name(&join.target)?)))
            .collect();
        let joins = now.joins.iter().map(|join| {
            let mut sources: Vec<&str> = join.sources.iter().map(|name| &**name).collect();
            sources.sort_unstable();
            let is_known = known
                .iter()
                .any(|(of, target)| *of == sources && *target == &*join.target);
            (join, is_known)
        });
        let declared: BTreeSet<&str> = now.destinations.iter().map(|goto| &*goto.source).collect();
        let jumps = now.nodes.iter().filter(|node| node.may_goto);
        let jumps = jumps
            .map(|node| &*node.name)
            .filter(|node| !declared.contains(node));
        let routers = now.branches.iter().filter(|branch| branch.arms.is_none());
        let routers = routers.map(|branch| &*branch.source);
        Self {
            targets: targets(now),
            anywhere: jumps.chain(routers).collect(),
            joins: joins.collect(),
        }
    }

    /// Returns the nodes that run, or may run, after a node; nothing if that may be any node.
    fn reached(&self, from: &'a str) -> Option<BTreeSet<&'a str>> {
        let mut reached = BTreeSet::new();
        let mut pending = vec![from];
        loop {
            while let Some(node) = pending.pop() {
                if self.anywhere.contains(node) {
                    return None;
                }
                let next = self.targets.get(node).into_iter().flatten();
                pending.extend(next.filter(|next| reached.insert(**next)));
            }
            for (join, is_known) in &self.joins {
                let has_run = |source: &str| source == from || reached.contains(source);
                let mut sources = join.sources.iter();
                let fires = if *is_known {
                    sources.any(|source| has_run(source))
                } else {
                    sources.all(|source| has_run(source))
                };
                if fires && reached.insert(&*join.target) {
                    pending.push(&*join.target);
                }
            }
            if pending.is_empty() {
                return Some(reached);
            }
        }
    }
}

/// Returns the targets of edges, routes and jumps by their source.
fn targets(graph: &Topology) -> BTreeMap<&str, Vec<&str>> {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for edge in &graph.edges {
        targets.entry(&edge.from).or_default().push(&edge.to);
    }
    for branch in &graph.branches {
        let all = targets.entry(&branch.source).or_default();
        let arms = branch.arms.iter().flatten();
        all.extend(arms.flat_map(|arm| &arm.targets).map(|target| &**target));
    }
    for goto in &graph.destinations {
        let all = targets.entry(&goto.source).or_default();
        all.extend(goto.targets.iter().map(|target| &**target));
    }
    for bound in &graph.edge_bounds {
        let exit = bound.exit.as_deref();
        targets.entry(&bound.from).or_default().extend(exit);
    }
    targets
}
