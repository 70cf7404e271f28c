//! Nodes that always run in the same superstep.

use std::collections::HashSet;

use crate::algo::{Lines, Table};
use crate::flow::{Flow, NODES};

/// Returns the sets of nodes that one source starts in one superstep: the edges of a vertex, alone
/// and with each answer of its router; the joins with the same sources.
///
/// A set counts only if all of it starts. So the jumps of a node make none, nor does a map, whose
/// worker may have no items.
pub fn started_together(flow: &Flow) -> Vec<Vec<usize>> {
    let mut arms = Vec::new();
    for (source, answers) in &flow.branches {
        for arm in answers.iter().flatten() {
            if !arm.map {
                arms.push((*source, arm.targets.clone()));
            }
        }
    }
    let mut known: HashSet<Vec<usize>> = HashSet::new();
    let mut found = Vec::new();
    for set in together(&flow.edges, &flow.joins, &arms) {
        let set = nodes_of(set);
        if set.len() > 1 && known.insert(set.clone()) {
            found.push(set);
        }
    }
    found
}

/// Returns the targets that start together, in any representation: by edges, by joins, by the
/// answers of routers.
pub fn together<T: Copy>(
    edges: &[(usize, T)],
    joins: &[(Vec<usize>, T)],
    arms: &[(usize, Vec<T>)],
) -> Vec<Vec<T>> {
    let mut by_vertex: Vec<Vec<T>> = Vec::new();
    let mut by_join: Vec<(Vec<usize>, Vec<T>)> = Vec::new();
    let mut start = |from: usize, target: T| {
        if by_vertex.len() <= from {
            by_vertex.resize(from + 1, Vec::new());
        }
        if let Some(targets) = by_vertex.get_mut(from) {
            targets.push(target);
        }
    };
    for (from, to) in edges {
        start(*from, *to);
    }
    for (sources, target) in joins {
        let sources = sorted(sources.clone());
        // A join of one node is an edge.
        if let [only] = *sources {
            start(only, *target);
            continue;
        }
        let place = by_join.partition_point(|(known, _)| *known < sources);
        match by_join.get_mut(place) {
            Some((known, targets)) if *known == sources => targets.push(*target),
            _ => by_join.insert(place, (sources, vec![*target])),
        }
    }
    let mut sets = by_vertex.clone();
    sets.retain(|set| !set.is_empty());
    for (source, targets) in arms {
        let mut set = by_vertex.get(*source).cloned().unwrap_or_default();
        set.extend_from_slice(targets);
        sets.push(set);
    }
    for (_, targets) in by_join {
        sets.push(targets);
    }
    sets
}

/// Returns the sets of nodes that run in one superstep, with their successors superstep by
/// superstep. A node that is `late` waits for others, so neither it nor its successors run in step;
/// a node that jumps may or may not follow its edges.
pub fn run_together(flow: &Flow, late: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let size = NODES + flow.nodes;
    let mut jumps = Table::new(size, false);
    for (source, _) in &flow.gotos {
        jumps.set(*source, true);
    }
    let edges = Lines::new(size, &flow.edges);
    let next = |set: &[usize]| -> Vec<usize> {
        let goes_on = |node: &usize| set.contains(node) && !jumps.get(*node);
        let mut targets: Vec<usize> = Vec::new();
        for node in set {
            if goes_on(node) {
                targets.extend_from_slice(edges.from(*node));
            }
        }
        for (sources, target) in &flow.joins {
            if sources.iter().all(goes_on) {
                targets.push(*target);
            }
        }
        nodes_of(targets)
    };
    let mut known: HashSet<Vec<usize>> = HashSet::new();
    let mut found = Vec::new();
    for mut set in started_together(flow) {
        // Cycles of different lengths can take very long before a set repeats.
        for _ in 0..size {
            set.retain(|node| !late(*node));
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
    let mut nodes = sorted(vertices);
    nodes.retain(|vertex| *vertex >= NODES);
    nodes
}

/// Sorts vertices, and removes duplicates.
fn sorted(mut vertices: Vec<usize>) -> Vec<usize> {
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{END, FlowArm, START};

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

    fn arm(targets: &[usize], map: bool) -> FlowArm {
        let targets = targets.to_vec();
        FlowArm { targets, map }
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
    fn followers_keep_step_until_one_is_late_or_jumps() {
        let mut graph = flow(&[(START, A), (START, B), (A, C), (B, D)]);
        assert_eq!(run_together(&graph, &|_| false), [[A, B], [C, D]]);
        assert!(run_together(&graph, &|node| node == A).is_empty());
        graph.gotos.push((A, Some(vec![END])));
        assert_eq!(run_together(&graph, &|_| false), [[A, B]]);
    }

    #[test]
    fn a_join_is_filled_by_those_that_run_together() {
        let mut graph = flow(&[(START, A), (START, B), (A, D)]);
        graph.joins.push((vec![A, B], C));
        assert_eq!(run_together(&graph, &|_| false), [[A, B], [C, D]]);
        // A join that also waits for another node is not complete yet.
        graph.joins = vec![(vec![A, B, D], C)];
        assert_eq!(run_together(&graph, &|_| false), [[A, B]]);
    }

    #[test]
    fn a_cycle_is_walked_once() {
        let graph = flow(&[(START, A), (START, B), (A, B), (B, A)]);
        assert_eq!(run_together(&graph, &|_| false), [[A, B]]);
    }
}
