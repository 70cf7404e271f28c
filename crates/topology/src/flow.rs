//! A graph as numbers, and the analysis of its paths.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::algo::{Components, Lines, Table, reach};
use crate::{NodeInfo, NodeName, Topology};

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
    pub branches: Vec<(usize, Option<Vec<Arm>>)>,
    /// Jumps of the nodes themselves; `None` if the node may name any node.
    pub gotos: Vec<(usize, Option<Vec<usize>>)>,
}

/// One answer of a router.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arm {
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
        let names = Names::new(topology);
        let (joins, flow_joins) = names.joins().unzip();
        let (branches, flow_branches) = names.branches().unzip();
        let edges = topology.edges.iter();
        let flow = Flow {
            nodes: topology.nodes.len(),
            edges: edges
                .filter_map(|edge| names.line(&edge.from, &edge.to))
                .collect(),
            joins: flow_joins,
            branches: flow_branches,
            gotos: names.gotos(),
        };
        let lines = lines_of(&flow, true);
        Self {
            topology,
            joins,
            branches,
            reached: reach(&lines, [START]),
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

/// A graph's names as numbers. It omits edges with unknown names, edges from END and edges to
/// START. If several nodes share a name, the first counts.
struct Names<'a> {
    topology: &'a Topology,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn new(topology: &'a Topology) -> Self {
        let mut numbers = HashMap::new();
        for (place, node) in topology.nodes.iter().enumerate() {
            numbers.entry(&*node.name).or_insert(NODES + place);
        }
        Self { topology, numbers }
    }

    fn source(&self, name: &str) -> Option<usize> {
        match name {
            crate::START => Some(START),
            crate::END => None,
            name => self.numbers.get(name).copied(),
        }
    }

    fn target(&self, name: &str) -> Option<usize> {
        match name {
            crate::START => None,
            crate::END => Some(END),
            name => self.numbers.get(name).copied(),
        }
    }

    fn targets(&self, names: &[NodeName]) -> Vec<usize> {
        names.iter().filter_map(|name| self.target(name)).collect()
    }

    fn line(&self, from: &str, to: &str) -> Option<(usize, usize)> {
        Some((self.source(from)?, self.target(to)?))
    }

    fn joins(&self) -> impl Iterator<Item = (usize, (Vec<usize>, usize))> {
        let joins = self.topology.joins.iter().enumerate();
        joins.filter_map(|(place, join)| {
            let sources = join.sources.iter().filter_map(|name| self.source(name));
            Some((place, (sources.collect(), self.target(&join.target)?)))
        })
    }

    fn branches(&self) -> impl Iterator<Item = (usize, (usize, Option<Vec<Arm>>))> {
        let branches = self.topology.branches.iter().enumerate();
        branches.filter_map(|(place, branch)| {
            let arms = branch.arms.as_ref().map(|arms| {
                let arms = arms.iter().map(|arm| Arm {
                    targets: self.targets(&arm.targets),
                    map: arm.map,
                });
                arms.collect()
            });
            Some((place, (self.source(&branch.source)?, arms)))
        })
    }

    fn gotos(&self) -> Vec<(usize, Option<Vec<usize>>)> {
        let lists = self.topology.destinations.iter();
        let declared: HashSet<&str> = lists.clone().map(|from| &*from.source).collect();
        let declares = |node: &&NodeInfo| declared.contains(&*node.name);
        let lists = lists.filter_map(|from| {
            let targets = self.targets(&from.targets);
            Some((self.source(&from.source)?, Some(targets)))
        });
        let nodes = self.topology.nodes.iter().filter(|node| node.may_goto);
        let nodes = nodes.filter(|node| !declares(node));
        let anywhere = nodes.filter_map(|node| Some((self.source(&node.name)?, None)));
        lists.chain(anywhere).collect()
    }
}

/// Returns every edge that may be followed. The vertex after the nodes means "anywhere".
pub(crate) fn lines_of(flow: &Flow, with_joins: bool) -> Lines {
    let anywhere = NODES + flow.nodes;
    let mut lines = flow.edges.clone();
    for (sources, target) in flow.joins.iter().filter(|_| with_joins) {
        lines.extend(sources.iter().map(|source| (*source, *target)));
    }
    for (source, arms) in &flow.branches {
        match arms {
            None => lines.push((*source, anywhere)),
            Some(arms) => {
                for arm in arms {
                    lines.extend(arm.ends().map(|target| (*source, target)));
                }
            }
        }
    }
    for (source, targets) in &flow.gotos {
        match targets {
            None => lines.push((*source, anywhere)),
            Some(targets) => lines.extend(targets.iter().map(|target| (*source, *target))),
        }
    }
    lines.push((anywhere, END));
    lines.extend((NODES..anywhere).map(|node| (anywhere, node)));
    Lines::new(anywhere + 1, &lines)
}

impl Arm {
    /// Returns the targets of the arm; an arm without targets ends the branch.
    pub(crate) fn ends(&self) -> impl Iterator<Item = usize> + '_ {
        let nowhere = self.targets.is_empty().then_some(END);
        self.targets.iter().copied().chain(nowhere)
    }
}
