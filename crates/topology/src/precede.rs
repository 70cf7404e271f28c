//! Which nodes can run before another one.

use std::collections::VecDeque;

use crate::algo::{Components, Lines, Table, reach};
use crate::flow::{Analysis, Flow, NODES, START};

/// No known superstep is the last one at which a node runs.
const ALWAYS: usize = usize::MAX;

/// The order in which the nodes of a graph run, as far as its edges say.
#[derive(Debug)]
pub struct Precedence<'a> {
    analysis: &'a Analysis<'a>,
    reversed: Lines,
    /// The first superstep at which a vertex can run.
    first: Vec<usize>,
    /// The last one, or [`ALWAYS`].
    last: Vec<usize>,
    /// The vertices that start several tasks.
    forks: Table<bool>,
    /// True if a node or a router may name any node.
    is_open: bool,
}

impl<'a> Precedence<'a> {
    /// Reads the order of a graph. A node that is `late` waits for others.
    pub fn new(analysis: &'a Analysis<'a>, late: &dyn Fn(usize) -> bool) -> Self {
        let anywhere = NODES + analysis.flow.nodes;
        Self {
            reversed: analysis.lines.reversed(),
            first: first(&analysis.lines),
            last: last(analysis, late),
            forks: forks(&analysis.flow, anywhere),
            is_open: analysis.reached.get(anywhere),
            analysis,
        }
    }

    /// Returns the nodes that can run in a superstep before one of `vertex`. The node itself is one of
    /// them if it can run again.
    ///
    /// Supersteps separate nodes in two ways: a node that runs at the third superstep at the latest runs
    /// before one that runs at the third at the earliest; and where a run is at one node at a time, only
    /// what leads to a node runs before it.
    pub fn before(&self, vertex: usize) -> Vec<usize> {
        let (lines, reached) = (&self.analysis.lines, &self.analysis.reached);
        let leads_here = reach(&self.reversed, vertex);
        let components = &self.analysis.components;
        let members = components.all().get(components.of(vertex));
        let repeats = members.is_some_and(|members| Components::is_cycle(lines, members));
        let mut alone = !self.is_open && !self.forks.get(START);
        for other in self.analysis.nodes() {
            alone &= !(self.forks.get(other) && leads_here.get(other) && reached.get(other));
        }
        let last = self.last.get(vertex).copied().unwrap_or(ALWAYS);
        let is_before = |other: &usize| {
            let leads = leads_here.get(*other) && (*other != vertex || repeats);
            let first = self.first.get(*other).copied().unwrap_or_default();
            reached.get(*other) && (self.is_open || (first < last && (leads || !alone)))
        };
        self.analysis.nodes().filter(is_before).collect()
    }
}

/// Returns the length of the shortest path to each vertex.
fn first(lines: &Lines) -> Vec<usize> {
    let mut first = vec![0; lines.size()];
    let mut seen = Table::new(lines.size(), false);
    seen.set(START, true);
    let mut open = VecDeque::from([START]);
    while let Some(vertex) = open.pop_front() {
        let next = first.get(vertex).copied().unwrap_or_default() + 1;
        for target in lines.from(vertex) {
            if seen.replace(*target, true) {
                if let Some(first) = first.get_mut(*target) {
                    *first = next;
                }
                open.push_back(*target);
            }
        }
    }
    first
}

/// Returns the length of the longest path to each vertex, if no cycle and no late node is on one.
fn last(analysis: &Analysis<'_>, late: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let (lines, components) = (&analysis.lines, &analysis.components);
    let mut last = vec![0; lines.size()];
    // Sources first.
    for members in components.all().iter().rev() {
        let is_cycle = Components::is_cycle(lines, members);
        for vertex in members
            .iter()
            .filter(|vertex| analysis.reached.get(**vertex))
        {
            let mut longest = last.get(*vertex).copied().unwrap_or_default();
            if is_cycle || (*vertex >= NODES && late(*vertex)) {
                longest = ALWAYS;
            }
            if let Some(last) = last.get_mut(*vertex) {
                *last = longest;
            }
            for target in lines.from(*vertex) {
                if let Some(last) = last.get_mut(*target) {
                    *last = (*last).max(longest.saturating_add(1));
                }
            }
        }
    }
    last
}

/// Finds the vertices after which several tasks can run: several edges, an arm or a jump to several nodes,
/// a map.
fn forks(flow: &Flow, anywhere: usize) -> Table<bool> {
    let mut tasks = Table::new(anywhere + 1, 0_usize);
    let mut start = |source: usize, more: usize| tasks.set(source, tasks.get(source) + more);
    for (source, _) in &flow.edges {
        start(*source, 1);
    }
    for (sources, _) in &flow.joins {
        for source in sources {
            start(*source, 1);
        }
    }
    for (source, arms) in &flow.branches {
        let arms = arms.iter().flatten();
        let most = arms.map(|arm| if arm.map { 2 } else { arm.targets.len() });
        start(*source, most.max().unwrap_or(2));
    }
    for (source, targets) in &flow.gotos {
        let nodes = targets.iter().flatten().filter(|target| **target >= NODES);
        start(*source, nodes.count());
    }
    let mut forks = Table::new(anywhere + 1, false);
    for vertex in 0..=anywhere {
        forks.set(vertex, tasks.get(vertex) > 1);
    }
    forks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::node_of;
    use crate::testing::graph;

    /// The names of the nodes that can run before `node`.
    fn before(text: &str, node: &str, late: &str) -> String {
        let topology = graph(text);
        let analysis = Analysis::new(&topology);
        let name = |vertex: usize| topology.nodes.get(node_of(vertex)).map_or("", |n| &n.name);
        let precedence = Precedence::new(&analysis, &|vertex| late.contains(name(vertex)));
        let vertex = analysis.nodes().find(|vertex| name(*vertex) == node);
        let before = precedence.before(vertex.expect("a node"));
        before.into_iter().map(name).collect()
    }

    #[test]
    fn what_leads_to_a_node_runs_before_it() {
        assert_eq!(before("S>a a>b b>c c>E", "b", ""), "a");
        assert_eq!(before("S>a a?b|c b>d c>d d>E", "d", ""), "abc");
        // A loop runs again what follows.
        assert_eq!(before("S>a a>b b?a|c c>E", "a", ""), "ab");
        // After a loop, no superstep is known, and still the run is at one node at a time.
        assert_eq!(before("S>a a>b b?a|c c>d d>E", "c", ""), "ab");
        assert_eq!(before("S>a a>b b>c c>E", "b", "abc"), "a");
    }

    #[test]
    fn parallel_nodes_are_separated_by_supersteps() {
        // `c` runs at the second superstep, as `d` does.
        assert_eq!(before("S>a S>b a>c b>d c>E d>E", "c", ""), "ab");
        assert_eq!(before("S>a S>b a>c b>d c>e d>E e>E", "d", ""), "ab");
        assert_eq!(before("S>a S>b a>c c>d b>E d>E", "d", ""), "abc");
        // A late node, and a loop, can take any time.
        assert_eq!(before("S>a S>b a>c b>d c>E d>E", "c", "a"), "abcd");
        assert_eq!(before("S>a S>b a>c b>d c?c|E d>E", "c", ""), "abcd");
        assert_eq!(before("S>a a*w w>c c>d d>E", "w", ""), "a");
    }

    #[test]
    fn a_router_that_may_name_any_node_separates_nothing() {
        assert_eq!(before("S>a a?? b>E", "a", ""), "ab");
        // An unreachable node runs before nothing.
        assert_eq!(before("S>a a>E b>E", "a", ""), "");
    }
}
