//! A graph as numbers, and the analysis of its paths.

use std::ops::Range;

use crate::algo::{Components, Lines, Table, reach};
use crate::names::Names;
use crate::{NodeName, Topology};

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
    /// Returns the targets of the arm; an arm without targets ends the branch.
    pub(crate) fn ends(&self) -> &[usize] {
        if self.targets.is_empty() {
            &[END]
        } else {
            &self.targets
        }
    }
}
