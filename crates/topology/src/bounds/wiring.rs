//! Where a run of a graph goes from where it stands.

use std::collections::BTreeSet;

use crate::names::Names;
use crate::{END, NodeKind, START, Topology};

/// A graph as numbers: those of its nodes, and one for START.
pub(super) struct Wiring {
    start: usize,
    nodes: Vec<Out>,
    joins: Vec<FanIn>,
    bounds: Vec<Bound>,
}

/// What leads on from a node.
#[derive(Clone, Default)]
struct Out {
    is_deferred: bool,
    edges: Vec<usize>,
    /// The routers: of each, the targets of its arms.
    routers: Vec<Vec<Vec<usize>>>,
}

struct FanIn {
    sources: BTreeSet<usize>,
    target: Option<usize>,
}

/// A bounded edge, and where a run goes instead.
struct Bound {
    from: usize,
    to: usize,
    at_most: u32,
    exit: Option<usize>,
}

/// Where a run stands.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Position {
    /// The nodes of the next superstep.
    pub(super) active: Vec<usize>,
    deferred: BTreeSet<usize>,
    /// The sources of each join that have run.
    joins: Vec<BTreeSet<usize>>,
    /// How often each bounded edge has been followed.
    followed: Vec<u32>,
}

impl Wiring {
    /// Reads a graph. `None` if something else than routers that choose an arm decides where runs go.
    pub(super) fn new(topology: &Topology) -> Option<Self> {
        let plain = |kind: &NodeKind| !matches!(kind, NodeKind::Worker);
        let mut nodes = topology.nodes.iter();
        let is_plain = nodes.all(|node| plain(&node.kind) && !node.may_goto);
        if !is_plain || !topology.closed || !topology.destinations.is_empty() {
            return None;
        }
        let names = Names::of_nodes(topology);
        let start = topology.nodes.len();
        // Unknown names are errors of their own, and nothing follows END.
        let vertex = |name: &str| match name {
            START => Some(start),
            END => None,
            name => names.get(name),
        };
        let vertices =
            |all: &[crate::NodeName]| all.iter().filter_map(|name| vertex(name)).collect();
        let mut nodes = vec![Out::default(); start + 1];
        for (node, out) in topology.nodes.iter().zip(&mut nodes) {
            out.is_deferred = node.defer;
        }
        for edge in &topology.edges {
            let out = vertex(&edge.from).and_then(|from| nodes.get_mut(from));
            if let (Some(out), Some(to)) = (out, vertex(&edge.to)) {
                out.edges.push(to);
            }
        }
        for branch in &topology.branches {
            let arms = branch.arms.as_ref()?;
            if arms.iter().any(|arm| arm.map) {
                return None;
            }
            if let Some(out) = vertex(&branch.source).and_then(|from| nodes.get_mut(from)) {
                let arms = arms.iter().map(|arm| vertices(&arm.targets));
                out.routers.push(arms.collect());
            }
        }
        let joins = topology.joins.iter().map(|join| FanIn {
            sources: join
                .sources
                .iter()
                .filter_map(|name| vertex(name))
                .collect(),
            target: vertex(&join.target),
        });
        let bounds = topology.edge_bounds.iter().filter_map(|bound| {
            Some(Bound {
                from: vertex(&bound.from)?,
                to: vertex(&bound.to)?,
                at_most: bound.at_most,
                exit: bound.exit.as_deref().and_then(vertex),
            })
        });
        Some(Self {
            start,
            nodes,
            joins: joins.collect(),
            bounds: bounds.collect(),
        })
    }

    /// Returns where every run starts: at START.
    pub(super) fn start(&self) -> Position {
        Position {
            active: vec![self.start],
            deferred: BTreeSet::new(),
            joins: vec![BTreeSet::new(); self.joins.len()],
            followed: vec![0; self.bounds.len()],
        }
    }

    /// Returns how many answers the routers of a superstep can give together.
    pub(super) fn answers(&self, at: &Position) -> Option<usize> {
        let nodes = at.active.iter().filter_map(|node| self.nodes.get(*node));
        let mut routers = nodes.flat_map(|node| &node.routers);
        routers.try_fold(1_usize, |all, arms| all.checked_mul(arms.len().max(1)))
    }

    /// Returns where a run goes with one of these answers.
    pub(super) fn follow(&self, at: &Position, mut answer: usize) -> Position {
        let mut step = Step {
            wiring: self,
            next: at.clone(),
            followed: BTreeSet::new(),
        };
        step.next.active.clear();
        for from in &at.active {
            let Some(node) = self.nodes.get(*from) else {
                continue;
            };
            for to in &node.edges {
                step.go(*from, *to);
            }
            for (join, seen) in self.joins.iter().zip(&mut step.next.joins) {
                if join.sources.contains(from) {
                    seen.insert(*from);
                }
            }
            for arms in &node.routers {
                let count = arms.len().max(1);
                for to in arms.get(answer % count).into_iter().flatten() {
                    step.go(*from, *to);
                }
                answer /= count;
            }
        }
        step.end()
    }
}

/// The end of a superstep.
struct Step<'a> {
    wiring: &'a Wiring,
    next: Position,
    /// The bounded edges that have been followed in this superstep: each counts once.
    followed: BTreeSet<usize>,
}

impl Step<'_> {
    /// Follows an edge, or takes its exit.
    fn go(&mut self, from: usize, mut to: usize) {
        let bounds = &self.wiring.bounds;
        for _ in 0..=bounds.len() {
            let mut all = bounds.iter().enumerate();
            let bound = all.find(|(_, bound)| (bound.from, bound.to) == (from, to));
            let Some((index, bound)) = bound else {
                return self.reach(to);
            };
            let times = self.next.followed.get_mut(index);
            let times = times.filter(|times| **times < bound.at_most);
            match (self.followed.contains(&index), times) {
                (true, _) => return self.reach(to),
                (false, Some(times)) => {
                    *times += 1;
                    self.followed.insert(index);
                    return self.reach(to);
                }
                (false, None) => match bound.exit {
                    Some(exit) => to = exit,
                    None => return,
                },
            }
        }
    }

    fn reach(&mut self, node: usize) {
        let is_deferred = self
            .wiring
            .nodes
            .get(node)
            .is_some_and(|out| out.is_deferred);
        if is_deferred {
            self.next.deferred.insert(node);
        } else if !self.next.active.contains(&node) {
            self.next.active.push(node);
        }
    }

    /// Starts what joins have waited for, and deferred nodes if nothing else is left.
    fn end(mut self) -> Position {
        for (index, join) in self.wiring.joins.iter().enumerate() {
            let seen = self.next.joins.get_mut(index);
            if let Some(seen) = seen.filter(|seen| **seen == join.sources) {
                seen.clear();
                if let Some(target) = join.target {
                    self.reach(target);
                }
            }
        }
        if self.next.active.is_empty() {
            let deferred = std::mem::take(&mut self.next.deferred);
            self.next.active.extend(deferred);
        }
        self.next.active.sort_unstable();
        self.next
    }
}
