//! The rule about cycles.

use super::{At, Finding, Rule, in_place};
use crate::algo::{Components, Lines, Table, cycle_through};
use crate::flow::{Analysis, node_of};

/// A run that enters a cycle never leaves it. Each finding lists one cycle.
pub fn cycle_without_exit(analysis: &Analysis<'_>) -> Vec<Finding> {
    let Analysis {
        lines,
        reached,
        components,
        ..
    } = analysis;
    let mut reported = Table::new(lines.size(), false);
    let mut cycles = Vec::new();
    // A cycle without outgoing edges.
    for members in components.all() {
        let home = members.first().map_or(0, |member| components.of(*member));
        let inside = |vertex: &usize| components.of(*vertex) == home;
        let closed = members
            .iter()
            .all(|member| lines.from(*member).iter().all(inside));
        let first = members
            .iter()
            .find(|member| analysis.nodes().contains(member));
        if let (true, true, Some(&first)) = (closed, Components::is_cycle(lines, members), first) {
            if reached.get(first) {
                cycles.push(cycle_through(lines, components, first));
            }
            for member in members {
                reported.set(*member, true);
            }
        }
    }
    // A cycle of unconditional edges: other edges may leave it, but it continues all the same.
    let (lines, components) = unconditional(analysis);
    for members in components.all() {
        let first = members.first().copied().unwrap_or_default();
        if Components::is_cycle(&lines, members)
            && reached.get(first)
            && !members.iter().all(|member| reported.get(*member))
        {
            cycles.push(cycle_through(&lines, &components, first));
        }
    }
    let mut found = Vec::new();
    for mut cycle in cycles {
        for vertex in &mut cycle {
            *vertex = node_of(*vertex);
        }
        if let Some(first) = cycle.first() {
            let at = At::Node(*first);
            found.push(Finding::new(Rule::CycleWithoutExit { cycle }, at));
        }
    }
    in_place(vec![found])
}

/// Returns the edges that are followed whatever the decisions. A node that may jump follows its
/// edges only if it does not; a join repeats for ever only if all of its sources do.
fn unconditional(analysis: &Analysis<'_>) -> (Lines, Components) {
    let Analysis { flow, lines, .. } = analysis;
    let mut jumps = Table::new(lines.size(), false);
    for (source, _) in &flow.gotos {
        jumps.set(*source, true);
    }
    let mut edges = flow.edges.clone();
    edges.retain(|(from, _)| !jumps.get(*from));
    let mut joins = flow.joins.clone();
    joins.retain(|(sources, _)| !sources.iter().any(|source| jumps.get(*source)));
    loop {
        let mut all = edges.clone();
        for (sources, target) in &joins {
            for source in sources {
                all.push((*source, *target));
            }
        }
        let lines = Lines::new(lines.size(), &all);
        let components = Components::new(&lines);
        let before = joins.len();
        joins.retain(|(sources, target)| {
            let home = components.of(*target);
            sources.iter().all(|source| components.of(*source) == home)
        });
        if joins.len() == before {
            return (lines, components);
        }
    }
}
