//! A graph without the edges that close its loops.

use crate::algo::{Components, Lines};
use crate::flow::Analysis;

/// A graph whose loops are cut at their bounded edges.
pub(super) struct Acyclic {
    /// Every edge that is left, bounded ones that close no loop among them.
    pub(super) lines: Lines,
    /// The vertices, targets first.
    pub(super) order: Vec<usize>,
    /// What follows each vertex.
    pub(super) next: Vec<Next>,
    /// The bounded edges.
    pub(super) bounded: Vec<Bounded>,
}

/// What follows a vertex.
#[derive(Clone, Default)]
pub(super) struct Next {
    /// Each is followed: edges without a bound, jumps, and joins for which this vertex stands.
    pub(super) always: Vec<usize>,
    /// Of each, one arm is followed.
    pub(super) choices: Vec<Vec<Vec<usize>>>,
}

/// A bounded edge.
#[derive(Clone, Copy)]
pub(super) struct Bounded {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) at_most: u64,
    /// True if the edge is part of a loop, and cut.
    pub(super) closes: bool,
    /// True if the edge is followed beside the arms of routers too.
    pub(super) is_always: bool,
}

impl Acyclic {
    /// Cuts a graph in which every loop has a bound.
    pub(super) fn new(analysis: &Analysis<'_>, is_closed: bool) -> Self {
        let mut bounded = bounded_edges(analysis);
        let lines = lines(analysis, &bounded);
        let cut = Components::new(&lines);
        let order = cut.all().iter().flatten().copied().collect();
        let mut next = vec![Next::default(); lines.size()];
        if is_closed {
            for (from, arms) in &analysis.flow.branches {
                let arms = arms.as_deref().unwrap_or_default().iter();
                if let Some(next) = next.get_mut(*from) {
                    next.choices
                        .push(arms.map(|arm| arm.targets.clone()).collect());
                }
            }
        }
        for (from, to) in always_followed(analysis, is_closed) {
            let mut edges = bounded.iter_mut();
            if let Some(edge) = edges.find(|edge| (edge.from, edge.to) == (from, to)) {
                edge.is_always = true;
            } else if let Some(next) = next.get_mut(from) {
                next.always.push(to);
            }
        }
        Self {
            lines,
            order,
            next,
            bounded,
        }
    }

    /// Cuts each loop at the fewest of its edges: at those that a run follows least often.
    pub(super) fn with_fewer_cuts(mut self, analysis: &Analysis<'_>) -> Self {
        let mut closing: Vec<usize> = (0..self.bounded.len()).collect();
        closing.sort_by_key(|index| {
            let edge = self.bounded.get(*index);
            std::cmp::Reverse(edge.map(|edge| edge.at_most))
        });
        for index in closing {
            let mut fewer = self.bounded.clone();
            if let Some(edge) = fewer.get_mut(index).filter(|edge| edge.closes) {
                edge.closes = false;
                let lines = lines(analysis, &fewer);
                let components = Components::new(&lines);
                if !components
                    .all()
                    .iter()
                    .any(|all| Components::is_cycle(&lines, all))
                {
                    self.order = components.all().iter().flatten().copied().collect();
                    (self.lines, self.bounded) = (lines, fewer);
                }
            }
        }
        self
    }

    /// Returns true if the edge has a bound.
    pub(super) fn is_bounded(&self, from: usize, to: usize) -> bool {
        let mut bounded = self.bounded.iter();
        bounded.any(|known| (known.from, known.to) == (from, to))
    }
}

/// Returns the edges without those that close loops.
fn lines(analysis: &Analysis<'_>, bounded: &[Bounded]) -> Lines {
    let plain = analysis.unbounded_lines();
    let mut all = Vec::new();
    // The last vertex stands for any node, and nothing leads to it here.
    let size = plain.size() - 1;
    for from in 0..size {
        all.extend(plain.from(from).iter().map(|to| (from, *to)));
    }
    for edge in bounded.iter().filter(|edge| !edge.closes) {
        all.push((edge.from, edge.to));
    }
    Lines::new(size, &all)
}

/// Returns the edges with bounds. If an edge has several, the first counts, as in a run.
fn bounded_edges(analysis: &Analysis<'_>) -> Vec<Bounded> {
    let mut bounded: Vec<Bounded> = Vec::new();
    for (from, to, at_most) in &analysis.flow.bounds {
        let mut known = bounded.iter();
        if known.any(|known| (known.from, known.to) == (*from, *to)) {
            continue;
        }
        let components = &analysis.components;
        bounded.push(Bounded {
            from: *from,
            to: *to,
            at_most: u64::from(*at_most),
            closes: components.of(*from) == components.of(*to),
            is_always: false,
        });
    }
    bounded
}

/// Returns the edges that a run follows whenever it has left their source, each once. A router of a graph that is not
/// closed, which the builder has, may answer with several keys: all of its arms count.
fn always_followed(analysis: &Analysis<'_>, is_closed: bool) -> Vec<(usize, usize)> {
    let flow = &analysis.flow;
    let mut always: Vec<(usize, usize)> = flow.edges.clone();
    for (from, targets) in &flow.gotos {
        always.extend(targets.iter().flatten().map(|to| (*from, *to)));
    }
    if !is_closed {
        for (from, arms) in &flow.branches {
            let arms = arms.as_deref().unwrap_or_default().iter();
            always.extend(arms.flat_map(|arm| &arm.targets).map(|to| (*from, *to)));
        }
    }
    for (sources, target) in &flow.joins {
        // Every source runs before each run of the target: one outside of loops runs less often.
        let in_loop = |source: usize| {
            let components = &analysis.components;
            let members = components.all().get(components.of(source));
            members.is_some_and(|all| Components::is_cycle(&analysis.lines, all))
        };
        let mut outside = sources.iter().filter(|source| !in_loop(**source));
        if let Some(source) = outside.next().or(sources.first()) {
            always.push((*source, *target));
        }
    }
    always.sort_unstable();
    always.dedup();
    always
}
