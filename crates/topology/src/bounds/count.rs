//! Counts the worst case.
//!
//! A run is a set of tokens. The input is one; a bounded edge that closes a loop makes a new one each
//! time. Between these edges the graph has no loops, so what a token causes is finite, and the bounds
//! say how many tokens there are. Three numbers limit the runs of a node, and the least counts:
//!
//! - what the tokens cause if each router always picks the arm that causes most;
//! - the different supersteps at which the tokens can arrive, since a node runs once in each;
//! - all supersteps of the run.
//!
//! A small graph is [explored](super::explore) too: each router decides by itself here, and there all
//! decisions of a run are followed together.

use super::acyclic::{Acyclic, Bounded};
use super::depths::depths;
use super::explore::explore;
use super::worst::Worst;
use crate::algo::{Table, reach};
use crate::flow::{Analysis, END, NODES, START, node_of};
use crate::{NodeKind, Topology};

/// Counts the worst case of a graph in which everything has a bound.
pub(super) fn count(topology: &Topology, analysis: &Analysis<'_>) -> Worst {
    let graph = Acyclic::new(analysis, topology.closed);
    let mut late = Table::new(graph.lines.size(), false);
    for vertex in analysis.nodes() {
        let node = topology.nodes.get(node_of(vertex));
        late.set(vertex, node.is_some_and(|node| node.defer));
    }
    let chosen: Vec<u64> = analysis.nodes().map(|node| caused(&graph, node)).collect();
    let chosen = by_waiting(analysis, &late, &chosen);
    let mut supersteps = longest(analysis, &graph, &late, &chosen);
    let mut arrivals = arrivals_at(analysis, &graph, &late);
    // Each set of cuts that leaves no loop gives a limit.
    let graph = graph.with_fewer_cuts(analysis);
    supersteps = supersteps.min(longest(analysis, &graph, &late, &chosen));
    for (least, fewer) in arrivals
        .iter_mut()
        .zip(arrivals_at(analysis, &graph, &late))
    {
        *least = (*least).min(fewer);
    }
    let mut runs = Vec::new();
    for (place, node) in topology.nodes.iter().enumerate() {
        let mut least = chosen.get(place).copied().unwrap_or_default();
        // The items of a map run in one superstep.
        if node.kind != NodeKind::Worker {
            let arrivals = arrivals.get(place).copied().flatten();
            least = least.min(supersteps).min(arrivals.unwrap_or(u64::MAX));
        }
        runs.push(least);
    }
    let all = runs
        .iter()
        .fold(0, |all: u64, runs| all.saturating_add(*runs));
    supersteps = supersteps.min(all);
    let Some(exact) = explore(topology) else {
        return Worst { supersteps, runs };
    };
    let pairs = runs.into_iter().zip(exact.runs);
    Worst {
        supersteps: supersteps.min(exact.supersteps),
        runs: pairs.map(|(runs, exact)| runs.min(exact)).collect(),
    }
}

/// Returns how often a node runs if routers always pick the arm that causes most of its runs.
fn caused(graph: &Acyclic, node: usize) -> u64 {
    let mut causes = Table::new(graph.lines.size(), 0_u64);
    for vertex in &graph.order {
        let Some(next) = graph.next.get(*vertex) else {
            continue;
        };
        let mut sum = u64::from(*vertex == node);
        for target in &next.always {
            sum = sum.saturating_add(causes.get(*target));
        }
        for arms in &next.choices {
            sum = sum.saturating_add(best(graph, &causes, *vertex, arms));
        }
        causes.set(*vertex, sum);
    }
    let mut sum = causes.get(START);
    for edge in &graph.bounded {
        let more = gain(graph, &causes, edge);
        sum = sum.saturating_add(edge.at_most.saturating_mul(more));
    }
    sum
}

/// Returns what the best arm causes without its bounded edges.
fn best(graph: &Acyclic, causes: &Table<u64>, from: usize, arms: &[Vec<usize>]) -> u64 {
    let arms = arms.iter().map(|arm| of_arm(graph, causes, from, arm));
    arms.max().unwrap_or_default()
}

fn of_arm(graph: &Acyclic, causes: &Table<u64>, from: usize, arm: &[usize]) -> u64 {
    let plain = arm.iter().filter(|to| !graph.is_bounded(from, **to));
    plain.fold(0, |sum: u64, to| sum.saturating_add(causes.get(*to)))
}

/// Returns how much more is caused each time that a bounded edge is followed. The arm that it belongs to
/// is picked instead of the best one.
fn gain(graph: &Acyclic, causes: &Table<u64>, edge: &Bounded) -> u64 {
    let target = causes.get(edge.to);
    let next = graph.next.get(edge.from).filter(|_| !edge.is_always);
    let Some(next) = next else {
        return target;
    };
    let mut most = None;
    for arms in &next.choices {
        let best = best(graph, causes, edge.from, arms);
        for arm in arms.iter().filter(|arm| arm.contains(&edge.to)) {
            let others = of_arm(graph, causes, edge.from, arm);
            let bounded = arm.iter().filter(|to| graph.is_bounded(edge.from, **to));
            // With several bounded edges in one arm, the loss must not be taken twice.
            let loss = if bounded.count() == 1 {
                best - others
            } else {
                0
            };
            most = most.max(Some(target.saturating_sub(loss)));
        }
    }
    most.unwrap_or(target)
}

/// Lowers the numbers of deferred nodes: they run when nothing else is left, once after the input and once
/// after each other deferred node that leads to them.
fn by_waiting(analysis: &Analysis<'_>, late: &Table<bool>, chosen: &[u64]) -> Vec<u64> {
    let deferred: Vec<usize> = analysis.nodes().filter(|node| late.get(*node)).collect();
    let mut lowered = chosen.to_vec();
    for node in &deferred {
        let mut runs = Some(1_u64);
        for other in &deferred {
            let from: Vec<usize> = analysis.lines.from(*other).to_vec();
            let leads = from
                .iter()
                .any(|next| reach(&analysis.lines, *next).get(*node));
            if leads && other == node {
                runs = None;
            } else if leads {
                let more = chosen.get(node_of(*other)).copied().unwrap_or_default();
                runs = runs.map(|runs| runs.saturating_add(more));
            }
        }
        if let (Some(runs), Some(known)) = (runs, lowered.get_mut(node_of(*node))) {
            *known = runs.min(*known);
        }
    }
    lowered
}

/// Returns the longest row of supersteps, each of which causes the next.
///
/// A row passes through the loops of the graph one after the other. In each it can use the bounded edges of
/// that loop, so their supersteps are added where a row enters it.
fn longest(analysis: &Analysis<'_>, graph: &Acyclic, late: &Table<bool>, runs: &[u64]) -> u64 {
    let components = &analysis.components;
    let mut places = Table::new(analysis.lines.size(), usize::MAX);
    for (place, vertex) in graph.order.iter().enumerate() {
        places.set(*vertex, place);
    }
    let mut lengths = Table::new(analysis.lines.size(), 0_u64);
    let mut added = vec![0_u64; components.all().len()];
    let added_at = |added: &[u64], vertex: usize| {
        let added = added.get(components.of(vertex)).copied();
        added.unwrap_or_default()
    };
    for (component, members) in components.all().iter().enumerate() {
        let mut members = members.clone();
        members.retain(|vertex| *vertex != END && *vertex < graph.lines.size());
        members.sort_by_key(|vertex| places.get(*vertex));
        for vertex in &members {
            let vertex = *vertex;
            let next = graph.lines.from(vertex).iter().map(|to| {
                let enters = components.of(*to) != component && !late.get(*to);
                let more = if enters { added_at(&added, *to) } else { 0 };
                follows(late, &lengths, *to).saturating_add(more)
            });
            lengths.set(vertex, next.max().unwrap_or_default().saturating_add(1));
        }
        let closing = graph.bounded.iter().filter(|edge| edge.closes);
        let closing = closing.filter(|edge| components.of(edge.from) == component);
        let closing: Vec<&Bounded> = closing.collect();
        if closing.is_empty() {
            continue;
        }
        raise(graph, &members, &closing, late, &mut lengths);
        if let Some(added) = added.get_mut(component) {
            *added = added_by(&closing, late, &lengths);
        }
    }
    // Taking the input is none.
    let mut sum = lengths.get(START).saturating_sub(1);
    for (place, runs) in runs.iter().enumerate() {
        let vertex = NODES + place;
        if late.get(vertex) {
            let row = lengths.get(vertex).saturating_add(added_at(&added, vertex));
            sum = sum.saturating_add(runs.saturating_mul(row));
        }
    }
    sum
}

/// Returns the length of a row from a vertex. A deferred node begins a row of its own.
fn follows(late: &Table<bool>, lengths: &Table<u64>, to: usize) -> u64 {
    if late.get(to) { 0 } else { lengths.get(to) }
}

/// Returns what the bounded edges of a loop add to a row. An edge adds as much as its target is longer than
/// what follows its source without it.
fn added_by(closing: &[&Bounded], late: &Table<bool>, lengths: &Table<u64>) -> u64 {
    closing.iter().fold(0, |sum, edge| {
        let rest = lengths.get(edge.from).saturating_sub(1);
        let more = follows(late, lengths, edge.to).saturating_sub(rest);
        sum.saturating_add(edge.at_most.saturating_mul(more))
    })
}

/// Raises the lengths of a loop's vertices where its bounded edges then add less.
///
/// A row that comes to a vertex with a short way on does not also go the long way that a vertex before it
/// could have taken. So a length may be any number that is less than those of the vertices before it and more than
/// those after it. Where a row enters the loop, it stays.
fn raise(
    graph: &Acyclic,
    members: &[usize],
    closing: &[&Bounded],
    late: &Table<bool>,
    lengths: &mut Table<u64>,
) {
    let mut inside = Table::new(graph.lines.size(), false);
    for vertex in members {
        inside.set(*vertex, true);
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); graph.lines.size()];
    for vertex in 0..graph.lines.size() {
        for to in graph.lines.from(vertex) {
            if let Some(before) = before.get_mut(*to) {
                before.push(vertex);
            }
        }
    }
    // Sources first.
    for vertex in members.iter().rev().filter(|vertex| !late.get(**vertex)) {
        let Some(before) = before.get(*vertex) else {
            continue;
        };
        if before.is_empty() || before.iter().any(|vertex| !inside.get(*vertex)) {
            continue;
        }
        let most = before
            .iter()
            .map(|vertex| lengths.get(*vertex).saturating_sub(1))
            .min();
        let (known, most) = (lengths.get(*vertex), most.unwrap_or_default());
        // At these lengths an edge adds nothing any more.
        let leaving = closing.iter().filter(|edge| edge.from == *vertex);
        let ends = leaving.map(|edge| follows(late, lengths, edge.to).saturating_add(1));
        let mut candidates: Vec<u64> = ends.filter(|end| (known..most).contains(end)).collect();
        candidates.push(most);
        let (mut best, mut least) = (known, added_by(closing, late, lengths));
        for candidate in candidates.into_iter().filter(|length| *length >= known) {
            lengths.set(*vertex, candidate);
            let sum = added_by(closing, late, lengths);
            if sum <= least {
                (best, least) = (candidate, sum);
            }
        }
        lengths.set(*vertex, best);
    }
}

/// Returns at how many supersteps each node can run; `None` for nodes that run after a deferred one, which
/// may wait for any time.
fn arrivals_at(analysis: &Analysis<'_>, graph: &Acyclic, late: &Table<bool>) -> Vec<Option<u64>> {
    let mut after = Table::new(analysis.lines.size(), false);
    for node in analysis.nodes().filter(|node| late.get(*node)) {
        let reached = reach(&analysis.lines, node);
        for vertex in analysis.nodes().filter(|vertex| reached.get(*vertex)) {
            after.set(vertex, true);
        }
    }
    let mut roots = vec![(START, 1)];
    let closing = graph.bounded.iter().filter(|edge| edge.closes);
    roots.extend(closing.map(|edge| (edge.to, edge.at_most)));
    let mut sums = vec![0_u64; graph.lines.size()];
    for (root, times) in roots {
        for (sum, depths) in sums.iter_mut().zip(depths(graph, root)) {
            *sum = sum.saturating_add(depths.saturating_mul(times));
        }
    }
    let nodes = analysis.nodes();
    nodes
        .map(|vertex| sums.get(vertex).copied().filter(|_| !after.get(vertex)))
        .collect()
}
