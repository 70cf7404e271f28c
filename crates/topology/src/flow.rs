//! A graph as numbers, and the analysis of its paths.

use std::ops::Range;

use crate::algo::{Components, Lines, Table, reach};
use crate::names::Names;
use crate::{EdgeBound, NodeName, Topology};

/// The vertex where every run starts.
pub const START: usize = 0;
/// The vertex where a branch ends.
pub const END: usize = 1;
/// The vertex of the first node.
pub const NODES: usize = 2;

/// A graph as numbers: [`START`], [`END`], then the nodes from [`NODES`] on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// The number of nodes.
    pub nodes: usize,
    /// Unconditional edges.
    pub edges: Vec<(usize, usize)>,
    /// Edges that wait for all of their sources.
    pub joins: Vec<(Vec<usize>, usize)>,
    /// Conditional edges; `None` if the router may name any node.
    pub branches: Vec<(usize, Option<Vec<FlowArm>>)>,
    /// Jumps of the nodes themselves; `None` if the node may name any node.
    pub gotos: Vec<(usize, Option<Vec<usize>>)>,
    /// Bounds of edges: source, target, and how often. The other edges contain the ways out.
    pub bounds: Vec<(usize, usize, u32)>,
}

/// One answer of a router.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowArm {
    /// Its targets; an empty list ends the branch.
    pub targets: Vec<usize>,
    /// True if the target runs once per item.
    pub map: bool,
}

/// A [`Topology`] with what the rules about paths need.
#[derive(Debug)]
pub struct Analysis<'a> {
    topology: &'a Topology,
    pub(crate) flow: Flow,
    /// The indices of the flow's joins and branches in the topology. The flow omits those without
    /// targets.
    joins: Vec<usize>,
    branches: Vec<usize>,
    /// Every edge that may be followed; the vertex after the nodes means "anywhere".
    pub(crate) lines: Lines,
    pub(crate) reached: Table<bool>,
    pub(crate) components: Components,
}

impl<'a> Analysis<'a> {
    pub fn new(topology: &'a Topology) -> Self {
        let names = Numbers::new(topology);
        let mut flow = Flow {
            nodes: topology.nodes.len(),
            ..Flow::default()
        };
        for edge in &topology.edges {
            if let (Some(from), Some(to)) = (names.source(&edge.from), names.target(&edge.to)) {
                flow.edges.push((from, to));
            }
        }
        let mut joins = Vec::new();
        for (place, join) in topology.joins.iter().enumerate() {
            if let Some(target) = names.target(&join.target) {
                joins.push(place);
                flow.joins.push((names.sources(&join.sources), target));
            }
        }
        let mut branches = Vec::new();
        for (place, branch) in topology.branches.iter().enumerate() {
            if let Some(source) = names.source(&branch.source) {
                branches.push(place);
                let arms = branch.arms.as_ref().map(|arms| names.arms(arms));
                flow.branches.push((source, arms));
            }
        }
        flow.gotos = names.gotos();
        for bound in &topology.edge_bounds {
            if let (Some(from), Some(to)) = (names.source(&bound.from), names.target(&bound.to)) {
                flow.bounds.push((from, to, bound.at_most));
                flow.leave(from, to, &names.exits(bound));
            }
        }
        let lines = lines_of(&flow, true);
        Self {
            topology,
            joins,
            branches,
            reached: reach(&lines, START),
            components: Components::new(&lines),
            lines,
            flow,
        }
    }

    /// Returns the vertices of the nodes.
    pub(crate) fn nodes(&self) -> Range<usize> {
        NODES..NODES + self.flow.nodes
    }

    /// Returns the edges that may be followed, without those that have a bound.
    pub(crate) fn unbounded_lines(&self) -> Lines {
        let (lines, bounds) = (&self.lines, &self.flow.bounds);
        let mut all = Vec::new();
        for from in 0..lines.size() {
            for to in lines.from(from) {
                let mut bounds = bounds.iter();
                if !bounds.any(|bound| (bound.0, bound.1) == (from, *to)) {
                    all.push((from, *to));
                }
            }
        }
        Lines::new(lines.size(), &all)
    }

    /// Returns the topology's index of a branch of the flow.
    pub(crate) fn branch(&self, branch: usize) -> Option<usize> {
        self.branches.get(branch).copied()
    }

    /// Returns where a join of the flow names a node.
    pub(crate) fn source(&self, join: usize, vertex: usize) -> Option<(usize, usize)> {
        let join = *self.joins.get(join)?;
        let name = &self.topology.nodes.get(vertex.checked_sub(NODES)?)?.name;
        let mut sources = self.topology.joins.get(join)?.sources.iter();
        Some((join, sources.position(|source| source == name)?))
    }
}

/// Returns the topology's index of a vertex's node.
pub(crate) fn node_of(vertex: usize) -> usize {
    vertex.saturating_sub(NODES)
}

/// A graph's names as numbers. It omits unknown names, END as a source and START as a target. If
/// several nodes share a name, the first counts.
struct Numbers<'a> {
    topology: &'a Topology,
    names: Names<'a>,
}

impl<'a> Numbers<'a> {
    fn new(topology: &'a Topology) -> Self {
        let names = Names::of_nodes(topology);
        Self { topology, names }
    }

    fn source(&self, name: &str) -> Option<usize> {
        match name {
            crate::START => Some(START),
            crate::END => None,
            name => Some(NODES + self.names.get(name)?),
        }
    }

    fn target(&self, name: &str) -> Option<usize> {
        match name {
            crate::START => None,
            crate::END => Some(END),
            name => Some(NODES + self.names.get(name)?),
        }
    }

    /// Returns the exits of a bound: its own, and that of the edge to it, and so on.
    fn exits(&self, bound: &EdgeBound) -> Vec<usize> {
        let mut exits = Vec::new();
        let mut next = bound.exit.as_ref();
        while let Some(exit) = next {
            let Some(vertex) = self.target(exit).filter(|vertex| !exits.contains(vertex)) else {
                break;
            };
            exits.push(vertex);
            let mut bounds = self.topology.edge_bounds.iter();
            let bound = bounds.find(|other| other.from == bound.from && other.to == *exit);
            next = bound.and_then(|bound| bound.exit.as_ref());
        }
        exits
    }

    fn sources(&self, names: &[NodeName]) -> Vec<usize> {
        let mut sources = Vec::new();
        for name in names {
            sources.extend(self.source(name));
        }
        sources
    }

    fn targets(&self, names: &[NodeName]) -> Vec<usize> {
        let mut targets = Vec::new();
        for name in names {
            targets.extend(self.target(name));
        }
        targets
    }

    fn arms(&self, arms: &[crate::Arm]) -> Vec<FlowArm> {
        let mut numbered = Vec::new();
        for arm in arms {
            let targets = self.targets(&arm.targets);
            numbered.push(FlowArm {
                targets,
                map: arm.map,
            });
        }
        numbered
    }

    fn gotos(&self) -> Vec<(usize, Option<Vec<usize>>)> {
        let mut gotos = Vec::new();
        for list in &self.topology.destinations {
            if let Some(source) = self.source(&list.source) {
                gotos.push((source, Some(self.targets(&list.targets))));
            }
        }
        let declared = Names::of_destinations(self.topology);
        for node in &self.topology.nodes {
            if node.may_goto
                && !declared.contains(&node.name)
                && let Some(source) = self.source(&node.name)
            {
                gotos.push((source, None));
            }
        }
        gotos
    }
}

impl Flow {
    /// Adds the ways out of a bounded edge: where the bound is reached, an exit takes the place of the target.
    fn leave(&mut self, from: usize, to: usize, exits: &[usize]) {
        if exits.is_empty() {
            return;
        }
        for (source, arms) in &mut self.branches {
            if let (true, Some(arms)) = (*source == from, arms) {
                let mut ways = Vec::new();
                for arm in arms.iter_mut().filter(|arm| arm.targets.contains(&to)) {
                    if arm.map {
                        // Items beyond the bound take an exit beside the others.
                        arm.targets.extend(exits);
                    } else {
                        ways.extend(exits.iter().map(|exit| arm.with(to, *exit)));
                    }
                }
                arms.append(&mut ways);
            }
        }
        for (source, targets) in &mut self.gotos {
            if let (true, Some(targets)) = (*source == from, targets)
                && targets.contains(&to)
            {
                targets.extend(exits);
            }
        }
        // An edge without a condition has one now.
        if self.edges.contains(&(from, to)) {
            self.edges.retain(|edge| *edge != (from, to));
            let arm = FlowArm {
                targets: vec![to],
                map: false,
            };
            let ways = exits.iter().map(|exit| arm.with(to, *exit)).collect();
            self.branches.push((from, Some([vec![arm], ways].concat())));
        }
    }
}

/// Returns every edge that may be followed. The vertex after the nodes means "anywhere".
pub(crate) fn lines_of(flow: &Flow, with_joins: bool) -> Lines {
    let anywhere = NODES + flow.nodes;
    let mut lines = flow.edges.clone();
    if with_joins {
        for (sources, target) in &flow.joins {
            for source in sources {
                lines.push((*source, *target));
            }
        }
    }
    for (source, arms) in &flow.branches {
        let Some(arms) = arms else {
            lines.push((*source, anywhere));
            continue;
        };
        for arm in arms {
            for target in arm.ends() {
                lines.push((*source, *target));
            }
        }
    }
    for (source, targets) in &flow.gotos {
        let Some(targets) = targets else {
            lines.push((*source, anywhere));
            continue;
        };
        for target in targets {
            lines.push((*source, *target));
        }
    }
    lines.push((anywhere, END));
    for node in NODES..anywhere {
        lines.push((anywhere, node));
    }
    Lines::new(anywhere + 1, &lines)
}

impl FlowArm {
    /// Returns the arm with another target in the place of one of its own.
    fn with(&self, from: usize, to: usize) -> Self {
        let mut targets = self.targets.clone();
        for target in targets.iter_mut().filter(|target| **target == from) {
            *target = to;
        }
        let map = false;
        Self { targets, map }
    }

    /// Returns the targets of the arm; an arm without targets ends the branch.
    pub(crate) fn ends(&self) -> &[usize] {
        if self.targets.is_empty() {
            &[END]
        } else {
            &self.targets
        }
    }
}
