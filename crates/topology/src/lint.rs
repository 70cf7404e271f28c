//! What is probably a mistake in a graph, although it could run.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::flow::{self, Analysis, Flow, Stuck};
use crate::{Branch, END, NodeInfo, NodeName, START, Topology};

mod parallel;
#[cfg(test)]
mod tests;

/// Something in a graph that can run but is hardly what was meant.
///
/// In `graph!`, where the targets of every route are known, these are compile errors. A graph
/// made with the builder may jump anywhere at run time, so there they are collected, and are
/// errors only where they are denied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lint {
    /// A graph without nodes.
    EmptyGraph,

    /// One edge, written twice. It counts once.
    DuplicateEdge {
        /// Where the edge starts.
        from: NodeName,
        /// Where it leads.
        to: NodeName,
    },

    /// A join names a source twice. It waits for it once.
    DuplicateJoinSource {
        /// The source.
        node: NodeName,
        /// Where the join leads.
        target: NodeName,
    },

    /// In a graph whose routes are all known, a node that may jump does not say where.
    UndeclaredGoto {
        /// The node.
        node: NodeName,
    },

    /// Nothing leads from START to a node.
    UnreachableNode {
        /// The node.
        node: NodeName,
        /// Nodes that would run only after it.
        followers: Vec<NodeName>,
    },

    /// Nothing follows a node, not even END.
    DeadEnd {
        /// The node.
        node: NodeName,
    },

    /// A run that enters a cycle never leaves it.
    CycleWithoutExit {
        /// The nodes of the cycle, in order.
        cycle: Vec<NodeName>,
    },

    /// A join waits for a node that runs only after the join.
    JoinOnOwnDownstream {
        /// Where the join leads.
        target: NodeName,
        /// The source that comes too late.
        node: NodeName,
    },

    /// A join waits for nodes of which only one is ever started.
    JoinOnExclusiveArms {
        /// Where the join leads.
        target: NodeName,
        /// A source.
        first: NodeName,
        /// A source behind another arm.
        second: NodeName,
        /// The node after which the router decides, or START.
        decision: NodeName,
    },

    /// Nodes that run in one superstep say that they write one field, which has no reducer.
    ///
    /// Whenever they do, the run fails with an `InvalidUpdate`.
    ParallelWrites {
        /// The field.
        field: String,
        /// The nodes, as far as they say what they write.
        nodes: Vec<NodeName>,
    },
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyGraph => {
                f.write_str("the graph has no nodes; add one between START and END")
            }
            Self::DuplicateEdge { from, to } => write!(
                f,
                "the edge from `{from}` to `{to}` is there twice; remove one"
            ),
            Self::DuplicateJoinSource { node, target } => write!(
                f,
                "the edge to `{target}` waits for `{node}` twice; remove one"
            ),
            Self::UndeclaredGoto { node } => write!(
                f,
                "`{node}` can choose the next node itself but does not say which; \
                 add `{node} => goto [..]` with the nodes, or END, that it chooses from"
            ),
            Self::UnreachableNode { node, followers } => write!(
                f,
                "`{node}` can never run: no edge leads to it from START{}",
                nor(followers)
            ),
            Self::DeadEnd { node } => write!(
                f,
                "nothing follows `{node}`: add an edge to the next node, or to END"
            ),
            Self::CycleWithoutExit { cycle } => write!(
                f,
                "the cycle `{}` never ends: give one of its nodes a way out that it, or a \
                 router, can choose",
                around(cycle)
            ),
            Self::JoinOnOwnDownstream { target, node } => write!(
                f,
                "`{target}` waits for `{node}`, but `{node}` only runs after `{target}`"
            ),
            Self::JoinOnExclusiveArms {
                target,
                first,
                second,
                decision,
            } => write!(
                f,
                "`{target}` waits for both `{first}` and `{second}`, but the decision after \
                 `{decision}` starts only one of them; give each its own edge to `{target}`"
            ),
            Self::ParallelWrites { field, nodes } => write!(
                f,
                "{} run side by side, and each writes `{field}`, which has no reducer; \
                 give it one, or let one run after the other",
                together(nodes)
            ),
        }
    }
}

impl std::error::Error for Lint {}

fn nor(followers: &[NodeName]) -> String {
    match followers {
        [] => String::new(),
        followers => format!(", and so neither can {}", listed(followers)),
    }
}

fn together(names: &[NodeName]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} and `{last}`", listed(others)),
        names => listed(names),
    }
}

fn listed(names: &[NodeName]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn around(cycle: &[NodeName]) -> String {
    let names: Vec<&str> = cycle
        .iter()
        .chain(cycle.first())
        .map(|name| &**name)
        .collect();
    names.join(" => ")
}

/// What is probably a mistake in a graph, in a fixed order.
///
/// A node that may jump anywhere, or a router whose answers are not known, counts as a way to
/// every node.
///
/// # Examples
///
/// ```
/// use langgraph_topology::{Edge, Lint, NodeInfo, START, Topology, lints};
///
/// let mut graph = Topology::default();
/// graph.nodes.push(NodeInfo::new("a"));
/// graph.edges.push(Edge { from: START.into(), to: "a".into() });
/// assert_eq!(lints(&graph), [Lint::DeadEnd { node: "a".into() }]);
/// ```
pub fn lints(topology: &Topology) -> Vec<Lint> {
    let mut found = line_lints(topology);
    empty_graph(topology, &mut found);
    found.extend(flow_lints(topology));
    found
}

/// The lints that look at one line or one node alone; they hold in a broken graph too.
pub(crate) fn line_lints(topology: &Topology) -> Vec<Lint> {
    let mut found = Vec::new();
    duplicate_edge(topology, &mut found);
    duplicate_join_source(topology, &mut found);
    undeclared_goto(topology, &mut found);
    found
}

fn empty_graph(topology: &Topology, found: &mut Vec<Lint>) {
    if topology.nodes.is_empty() {
        found.push(Lint::EmptyGraph);
    }
}

fn duplicate_edge(topology: &Topology, found: &mut Vec<Lint>) {
    let mut edges: HashSet<(&str, &str)> = HashSet::new();
    for edge in &topology.edges {
        if !edges.insert((&edge.from, &edge.to)) {
            let (from, to) = (edge.from.clone(), edge.to.clone());
            found.push(Lint::DuplicateEdge { from, to });
        }
    }
    let mut joins: HashSet<(Vec<&str>, &str)> = HashSet::new();
    for join in &topology.joins {
        let mut sources: Vec<&str> = join.sources.iter().map(|source| &**source).collect();
        sources.sort_unstable();
        sources.dedup();
        let to = join.target.clone();
        match sources.as_slice() {
            [] => {}
            // A join on one node is an edge.
            [only] => {
                if !edges.insert((only, &join.target)) {
                    found.push(Lint::DuplicateEdge {
                        from: (*only).into(),
                        to,
                    });
                }
            }
            _ => {
                if !joins.insert((sources, &join.target)) {
                    let mut names: Vec<&str> = Vec::new();
                    for source in &join.sources {
                        if !names.contains(&&**source) {
                            names.push(source);
                        }
                    }
                    let from = format!("[{}]", names.join(", ")).into();
                    found.push(Lint::DuplicateEdge { from, to });
                }
            }
        }
    }
}

fn duplicate_join_source(topology: &Topology, found: &mut Vec<Lint>) {
    for join in &topology.joins {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut told: HashSet<&str> = HashSet::new();
        for source in &join.sources {
            if !seen.insert(source) && told.insert(source) {
                let (node, target) = (source.clone(), join.target.clone());
                found.push(Lint::DuplicateJoinSource { node, target });
            }
        }
    }
}

fn undeclared_goto(topology: &Topology, found: &mut Vec<Lint>) {
    if !topology.closed {
        return;
    }
    let declared: HashSet<&str> = topology
        .destinations
        .iter()
        .map(|from| &*from.source)
        .collect();
    for node in &topology.nodes {
        if node.may_goto && !declared.contains(&*node.name) {
            found.push(Lint::UndeclaredGoto {
                node: node.name.clone(),
            });
        }
    }
}

/// The lints that look at what a run can reach.
fn flow_lints(topology: &Topology) -> Vec<Lint> {
    let flow = flow_of(topology);
    let analysis = Analysis::new(&flow);
    let name = |vertex: usize| -> NodeName {
        node_of(topology, vertex).map_or_else(|| START.into(), |node| node.name.clone())
    };
    let names =
        |vertices: Vec<usize>| -> Vec<NodeName> { vertices.into_iter().map(name).collect() };
    let target = |join: usize| {
        flow.joins
            .get(join)
            .map_or(flow::START, |(_, target)| *target)
    };
    let mut found = Vec::new();
    for unreachable in analysis.unreachable_nodes() {
        let (node, followers) = (name(unreachable.node), names(unreachable.followers));
        found.push(Lint::UnreachableNode { node, followers });
    }
    for node in analysis.dead_ends() {
        found.push(Lint::DeadEnd { node: name(node) });
    }
    for cycle in analysis.cycles_without_exit() {
        found.push(Lint::CycleWithoutExit {
            cycle: names(cycle),
        });
    }
    for stuck in analysis.stuck_joins() {
        found.push(match stuck {
            Stuck::Downstream { join, source } => Lint::JoinOnOwnDownstream {
                target: name(target(join)),
                node: name(source),
            },
            Stuck::Exclusive {
                join,
                sources: (first, second),
                decision,
            } => Lint::JoinOnExclusiveArms {
                target: name(target(join)),
                first: name(first),
                second: name(second),
                decision: name(decision),
            },
        });
    }
    parallel::parallel_writes(topology, &flow, &mut found);
    found
}

fn node_of(topology: &Topology, vertex: usize) -> Option<&NodeInfo> {
    topology.nodes.get(vertex.checked_sub(flow::NODES)?)
}

/// The graph as numbers. Lines with a name that no node has are left out, as are lines from END
/// and to START; of nodes with one name, the first counts.
fn flow_of(topology: &Topology) -> Flow {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for (place, node) in topology.nodes.iter().enumerate() {
        numbers.entry(&*node.name).or_insert(flow::NODES + place);
    }
    let source = |name: &NodeName| match &**name {
        START => Some(flow::START),
        END => None,
        name => numbers.get(name).copied(),
    };
    let target = |name: &NodeName| match &**name {
        START => None,
        END => Some(flow::END),
        name => numbers.get(name).copied(),
    };
    let targets = |names: &[NodeName]| -> Vec<usize> { names.iter().filter_map(target).collect() };
    let arms = |branch: &Branch| -> Option<Vec<flow::Arm>> {
        let arms = branch.arms.as_ref()?.iter();
        Some(
            arms.map(|arm| flow::Arm {
                targets: targets(&arm.targets),
                map: arm.map,
            })
            .collect(),
        )
    };
    let edges = topology.edges.iter();
    let joins = topology.joins.iter();
    let branches = topology.branches.iter();
    let destinations = topology.destinations.iter();
    let declared: HashSet<&str> = destinations.clone().map(|from| &*from.source).collect();
    let mut gotos: Vec<(usize, Option<Vec<usize>>)> = destinations
        .filter_map(|from| Some((source(&from.source)?, Some(targets(&from.targets)))))
        .collect();
    let undeclared = topology.nodes.iter().filter(|node| node.may_goto);
    let undeclared = undeclared.filter(|node| !declared.contains(&*node.name));
    gotos.extend(undeclared.filter_map(|node| Some((source(&node.name)?, None))));
    Flow {
        nodes: topology.nodes.len(),
        edges: edges
            .filter_map(|edge| Some((source(&edge.from)?, target(&edge.to)?)))
            .collect(),
        joins: joins
            .filter_map(|join| {
                let sources = join.sources.iter().filter_map(source).collect();
                Some((sources, target(&join.target)?))
            })
            .collect(),
        branches: branches
            .filter_map(|branch| Some((source(&branch.source)?, arms(branch))))
            .collect(),
        gotos,
    }
}
