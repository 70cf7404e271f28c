//! Nodes that always run in the same superstep.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::algo::{Lines, Table};
use crate::flow::{Flow, NODES};

/// Returns the sets of nodes that one source starts in one superstep: the edges of a vertex, alone
/// and with each answer of its router; the joins with the same sources.
///
/// A set counts only if all of it starts. So the jumps of a node make none, nor does a map, whose
/// worker may have no items.
pub fn started_together(flow: &Flow) -> Vec<Vec<usize>> {
    let edges = flow.edges.iter().copied();
    let joins = flow.joins.iter().map(|(from, to)| (from.as_slice(), *to));
    let arms = flow.branches.iter().flat_map(|(source, arms)| {
        let arms = arms.iter().flatten().filter(|arm| !arm.map);
        arms.map(|arm| (*source, arm.targets.clone()))
    });
    let mut known: BTreeSet<Vec<usize>> = BTreeSet::new();
    together(edges, joins, arms)
        .into_iter()
        .map(nodes_of)
        .filter(|set| set.len() > 1 && known.insert(set.clone()))
        .collect()
}

/// Returns the targets that start together, in any representation: by edges, by joins, by the
/// answers of routers.
pub fn together<'a, T: Copy>(
    edges: impl Iterator<Item = (usize, T)>,
    joins: impl Iterator<Item = (&'a [usize], T)>,
    arms: impl Iterator<Item = (usize, Vec<T>)>,
) -> Vec<Vec<T>> {
    let mut by_vertex: BTreeMap<usize, Vec<T>> = BTreeMap::new();
    for (from, to) in edges {
        by_vertex.entry(from).or_default().push(to);
    }
    let mut by_join: BTreeMap<Vec<usize>, Vec<T>> = BTreeMap::new();
    for (sources, target) in joins {
        match sources_of(sources).as_slice() {
            // A join of one node is an edge.
            [only] => by_vertex.entry(*only).or_default().push(target),
            several => by_join.entry(several.to_vec()).or_default().push(target),
        }
    }
    let mut sets: Vec<Vec<T>> = by_vertex.values().cloned().collect();
    sets.extend(arms.map(|(source, targets)| {
        let beside = by_vertex.get(&source).map(Vec::as_slice);
        [beside.unwrap_or_default(), &targets].concat()
    }));
    sets.extend(by_join.into_values());
    sets
}

/// Returns the sets of nodes that run in one superstep, with their successors superstep by
/// superstep. A node that is `late` waits for others, so neither it nor its successors run in step;
/// a node that jumps may or may not follow its edges.
pub fn run_together(flow: &Flow, late: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let size = NODES + flow.nodes;
    let mut jumps = Table::new(size, false);
    for (source, _) in &flow.gotos {
        jumps.set(*source, true);
    }
    let edges = Lines::new(size, &flow.edges);
    let joins: Vec<(Vec<usize>, usize)> = flow
        .joins
        .iter()
        .map(|(sources, target)| (sources_of(sources), *target))
        .collect();
    let on_time =
        |set: Vec<usize>| -> Vec<usize> { set.into_iter().filter(|node| !late(*node)).collect() };
    let next = |set: &[usize]| -> Vec<usize> {
        let goes_on = |node: &usize| set.contains(node) && !jumps.get(*node);
        let mut targets: Vec<usize> = Vec::new();
        for node in set.iter().filter(|node| goes_on(node)) {
            targets.extend(edges.from(*node));
        }
        let filled = joins.iter().filter(|(from, _)| from.iter().all(goes_on));
        targets.extend(filled.map(|(_, target)| *target));
        on_time(nodes_of(targets))
    };
    let mut known: HashSet<Vec<usize>> = HashSet::new();
    let mut found = Vec::new();
    for start in started_together(flow) {
        let mut set = on_time(start);
        // Cycles of different lengths can take very long before a set repeats.
        for _ in 0..size {
            if set.len() < 2 || !known.insert(set.clone()) {
                break;
            }
            let after = next(&set);
            found.push(set);
            set = after;
        }
    }
    found
}

/// Returns the nodes among vertices, without duplicates.
fn nodes_of(vertices: Vec<usize>) -> Vec<usize> {
    let nodes: BTreeSet<usize> = vertices.into_iter().filter(|v| *v >= NODES).collect();
    nodes.into_iter().collect()
}

/// Returns the sources of a join, without duplicates.
fn sources_of(sources: &[usize]) -> Vec<usize> {
    let sources: BTreeSet<usize> = sources.iter().copied().collect();
    sources.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Arm, END, START};

    const A: usize = NODES;
    const B: usize = NODES + 1;
    const C: usize = NODES + 2;
    const D: usize = NODES + 3;

    fn flow(edges: &[(usize, usize)]) -> Flow {
        Flow {
            nodes: 4,
            edges: edges.to_vec(),
            ..Flow::default()
        }
    }

    fn arm(targets: &[usize], map: bool) -> Arm {
        let targets = targets.to_vec();
        Arm { targets, map }
    }

    #[test]
    fn what_one_vertex_starts_is_together() {
        assert_eq!(
            started_together(&flow(&[(START, B), (START, A), (A, C), (B, D), (C, END)])),
            [[A, B]]
        );
        let mut graph = flow(&[(A, B), (A, END)]);
        let arms = vec![arm(&[C, D], false), arm(&[B], false), arm(&[D], true)];
        graph.branches.push((A, Some(arms)));
        assert_eq!(started_together(&graph), [[B, C, D]]);
        // A router never returns two answers at once, and a jump may name one of many nodes.
        let mut graph = flow(&[]);
        let arms = vec![arm(&[C], false), arm(&[B], false)];
        graph.branches.push((A, Some(arms)));
        graph.gotos.push((A, Some(vec![B, C])));
        assert!(started_together(&graph).is_empty());
    }

    #[test]
    fn joins_on_the_same_nodes_fire_together() {
        let mut graph = flow(&[]);
        graph.joins = vec![(vec![A, B], C), (vec![B, A, A], D), (vec![A, C], B)];
        assert_eq!(started_together(&graph), [[C, D]]);
    }

    #[test]
    fn followers_keep_step_until_somebody_is_late_or_jumps() {
        let mut graph = flow(&[(START, A), (START, B), (A, C), (B, D)]);
        assert_eq!(run_together(&graph, |_| false), [[A, B], [C, D]]);
        assert!(run_together(&graph, |node| node == A).is_empty());
        graph.gotos.push((A, Some(vec![END])));
        assert_eq!(run_together(&graph, |_| false), [[A, B]]);
    }

    #[test]
    fn a_join_is_filled_by_those_that_run_together() {
        let mut graph = flow(&[(START, A), (START, B), (A, D)]);
        graph.joins.push((vec![A, B], C));
        assert_eq!(run_together(&graph, |_| false), [[A, B], [C, D]]);
        // A join that also waits for another node is not complete yet.
        graph.joins = vec![(vec![A, B, D], C)];
        assert_eq!(run_together(&graph, |_| false), [[A, B]]);
    }

    #[test]
    fn a_cycle_is_walked_once() {
        let graph = flow(&[(START, A), (START, B), (A, B), (B, A)]);
        assert_eq!(run_together(&graph, |_| false), [[A, B]]);
    }
}
