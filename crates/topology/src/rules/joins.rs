//! The rules about joins that can never fire.

use std::collections::HashSet;

use super::{At, Finding, JoinPart, Rule};
use crate::algo::{Dominators, Lines, Table, reach};
use crate::flow::{Analysis, Flow, START, lines_of};

/// A join waits for a node that runs only after the join.
pub fn join_on_own_downstream(analysis: &Analysis<'_>) -> Vec<Finding> {
    let Analysis {
        flow,
        lines,
        reached,
        ..
    } = analysis;
    let fired = reached_with_waiting(flow);
    let mut found = Vec::new();
    for (join, (sources, target)) in flow.joins.iter().enumerate() {
        let mut waiting = sources.clone();
        waiting.retain(|source| reached.get(*source) && !fired.get(*source));
        if waiting.is_empty() {
            continue;
        }
        // Of several joins that wait for each other, at least one waits for its own successor; the
        // others only follow it.
        let after = reach(lines, *target);
        let source = waiting.into_iter().find(|source| after.get(*source));
        if let Some((join, source)) = source.and_then(|source| analysis.source(join, source)) {
            let at = At::Join(join, JoinPart::Source(source));
            found.push(Finding::new(Rule::JoinOnOwnDownstream, at));
        }
    }
    found
}

/// A join waits for several nodes, but a decision that happens once starts only one of them. A join
/// that waits for its own successor is reported by the other rule.
pub fn join_on_exclusive_arms(analysis: &Analysis<'_>) -> Vec<Finding> {
    let Analysis { flow, reached, .. } = analysis;
    if flow.joins.is_empty() || flow.branches.is_empty() {
        return Vec::new();
    }
    let arms = Arms::of(analysis);
    let once = once(analysis);
    let reported = join_on_own_downstream(analysis);
    let mut found = Vec::new();
    for (join, (sources, _)) in flow.joins.iter().enumerate() {
        // In the order of the tree, the arms of one decision are adjacent.
        let mut sources = sources.clone();
        sources.retain(|source| reached.get(*source));
        arms.dominators.sort(&mut sources);
        let finding = |left: usize, right: usize, branch: usize| {
            let (_, first) = analysis.source(join, left)?;
            let (join, second) = analysis.source(join, right)?;
            let decision = analysis.branch(branch)?;
            let is_reported = |other: &Finding| matches!(other.at, At::Join(at, _) if at == join);
            let rule = Rule::JoinOnExclusiveArms { first, decision };
            let at = At::Join(join, JoinPart::Source(second));
            (!reported.iter().any(is_reported)).then(|| Finding::new(rule, at))
        };
        for pair in sources.windows(2) {
            if let [left, right] = *pair
                && let Some((branch, source)) = arms.decided(left, right)
                && once.get(source)
            {
                found.extend(finding(left, right, branch));
                break;
            }
        }
    }
    found
}

/// The arms of all decisions. Each has a vertex of its own: only this arm leads to a node if the arm
/// dominates the node.
struct Arms {
    /// The branch and the source of each arm; the vertices of arms follow those of nodes.
    decisions: Vec<(usize, usize)>,
    first: usize,
    dominators: Dominators,
}

impl Arms {
    fn of(analysis: &Analysis<'_>) -> Self {
        let Analysis {
            flow,
            lines: all_lines,
            ..
        } = analysis;
        let mut lines: Vec<(usize, usize)> = Vec::new();
        let mut decisions: Vec<(usize, usize)> = Vec::new();
        let mut exclusive: HashSet<(usize, usize)> = HashSet::new();
        let first = all_lines.size();
        for (branch, (source, arms)) in flow.branches.iter().enumerate() {
            for arm in arms.iter().flatten() {
                let vertex = first + decisions.len();
                decisions.push((branch, *source));
                lines.push((*source, vertex));
                for target in arm.ends() {
                    lines.push((vertex, *target));
                    exclusive.insert((*source, *target));
                }
            }
        }
        for from in 0..first {
            for to in all_lines.from(from) {
                if !exclusive.contains(&(from, *to)) {
                    lines.push((from, *to));
                }
            }
        }
        // An edge that an arm shares with another source belongs to neither.
        for line in direct(flow) {
            if exclusive.contains(&line) {
                lines.push(line);
            }
        }
        let lines = Lines::new(first + decisions.len(), &lines);
        let dominators = Dominators::new(&lines, START);
        Self {
            decisions,
            first,
            dominators,
        }
    }

    /// Returns the branch, and its source, of which two arms lead to the two nodes.
    fn decided(&self, left: usize, right: usize) -> Option<(usize, usize)> {
        let arm = |vertex: usize| self.decisions.get(vertex.checked_sub(self.first)?).copied();
        let (at_left, at_right) = self.dominators.parting(left, right)?;
        let (branch, source) = arm(at_left)?;
        (arm(at_right)?.0 == branch).then_some((branch, source))
    }
}

/// Finds the vertices that a run can reach if a join fires only after all of its sources.
fn reached_with_waiting(flow: &Flow) -> Table<bool> {
    let lines = lines_of(flow, false);
    let mut of_source: Vec<(usize, usize)> = Vec::new();
    let mut missing = Table::new(flow.joins.len(), 0);
    for (join, (sources, _)) in flow.joins.iter().enumerate() {
        let mut sources = sources.clone();
        sources.sort_unstable();
        sources.dedup();
        missing.set(join, sources.len());
        for source in sources {
            of_source.push((source, join));
        }
    }
    let of_source = Lines::new(lines.size(), &of_source);
    let mut seen = Table::new(lines.size(), false);
    seen.set(START, true);
    let mut open = vec![START];
    while let Some(vertex) = open.pop() {
        for &join in of_source.from(vertex) {
            missing.set(join, missing.get(join).saturating_sub(1));
            let target = flow.joins.get(join).map(|(_, target)| *target);
            if let Some(target) = target.filter(|_| missing.get(join) == 0)
                && seen.replace(target, true)
            {
                open.push(target);
            }
        }
        for &next in lines.from(vertex) {
            if seen.replace(next, true) {
                open.push(next);
            }
        }
    }
    seen
}

/// Returns the edges that are not arms of a router.
fn direct(flow: &Flow) -> Vec<(usize, usize)> {
    let mut lines = flow.edges.clone();
    for (sources, to) in &flow.joins {
        for from in sources {
            lines.push((*from, *to));
        }
    }
    for (from, targets) in &flow.gotos {
        for to in targets.iter().flatten() {
            lines.push((*from, *to));
        }
    }
    lines
}

/// Finds the vertices that run at most once: only one source starts them, and it happens once.
fn once(analysis: &Analysis<'_>) -> Table<bool> {
    let Analysis { flow, lines, .. } = analysis;
    let size = lines.size();
    // What starts a vertex: nothing so far, one source (its number and its vertex), or several.
    let mut starts: Table<Option<(usize, usize)>> = Table::new(size, None);
    let mut several = Table::new(size, false);
    let mut number = 0;
    let mut start = |to: usize, number: usize, from: usize| match starts.get(to) {
        None => starts.set(to, Some((number, from))),
        Some((known, _)) if known == number => {}
        Some(_) => several.set(to, true),
    };
    let mut many = Vec::new();
    for (from, to) in &flow.edges {
        number += 1;
        start(*to, number, *from);
    }
    for (sources, to) in &flow.joins {
        number += 1;
        if let Some(from) = sources.first() {
            start(*to, number, *from);
        }
    }
    for (from, arms) in &flow.branches {
        number += 1;
        for arm in arms.iter().flatten() {
            for to in &arm.targets {
                start(*to, number, *from);
                if arm.map {
                    many.push(*to);
                }
            }
        }
        if arms.is_none() {
            many.extend(analysis.nodes());
        }
    }
    for (_, targets) in &flow.gotos {
        match targets {
            None => many.extend(analysis.nodes()),
            // A jump may name a node twice, as two sends.
            Some(targets) => many.extend(targets),
        }
    }
    for vertex in many {
        several.set(vertex, true);
    }
    let mut lines = Vec::new();
    for node in analysis.nodes() {
        if !several.get(node)
            && let Some((_, from)) = starts.get(node)
        {
            lines.push((from, node));
        }
    }
    reach(&Lines::new(size, &lines), START)
}
