//! The wiring rules: one function each, from a graph to what breaks the rule.
//!
//! A rule says where, as an index into the [`Topology`], and says no words: `graph!` puts a finding
//! under the user's tokens, the builder names the nodes. Rules over the lines alone take the
//! topology; rules about what a run can reach take its [`Analysis`].

use crate::{Breakpoints, NodeName, Topology};

mod aliases;
mod cycles;
mod joins;
mod lines;
mod names;
mod parallel;
mod reach;
mod twice;
mod unknown;

pub use crate::flow::Analysis;
pub use aliases::{alias_taken, unknown_alias_node};
pub use cycles::cycle_without_exit;
pub use joins::{join_on_exclusive_arms, join_on_own_downstream};
pub use lines::{
    empty_join, end_as_source, no_entry_point, start_as_target, start_in_join, undeclared_goto,
    worker_without_item,
};
pub use names::{duplicate_node, empty_name, reserved_character, reserved_name};
pub use parallel::parallel_writes;
pub use reach::{dead_end, empty_graph, unreachable_node};
pub use twice::{duplicate_edge, duplicate_join, duplicate_join_source, duplicate_target};
pub use unknown::{unknown_interrupt_node, unknown_join_node, unknown_source, unknown_target};

/// A place in a graph that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, with what it knows beside the place.
    pub rule: Rule,
    /// Where it is broken.
    pub at: At,
}

impl Finding {
    fn new(rule: Rule, at: At) -> Self {
        Self { rule, at }
    }
}

/// The rules. Each has the name of its function.
///
/// Nodes, joins and the like are given by their indices in the [`Topology`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An old name stands for another node already.
    AliasTaken,
    /// A run that enters a cycle never leaves it.
    CycleWithoutExit {
        /// The nodes of the cycle, in order.
        cycle: Vec<usize>,
    },
    /// Nothing follows a node, not even END.
    DeadEnd,
    /// One edge, written twice. A join on one node is an edge.
    DuplicateEdge {
        /// Where it is written first: an edge or a join.
        first: At,
    },
    /// Two joins wait for the same nodes and lead to the same one.
    DuplicateJoin {
        /// The first of the two.
        first: usize,
    },
    /// A join names a source again.
    DuplicateJoinSource {
        /// Its first place among the sources.
        first: usize,
    },
    /// Nodes have one name. The finding is at the first of them.
    DuplicateNode {
        /// The others.
        again: Vec<usize>,
    },
    /// An arm, or a list of destinations, names a target again.
    DuplicateTarget {
        /// Its first place among the targets.
        first: usize,
    },
    /// A graph without nodes.
    EmptyGraph,
    /// A join waits for nothing.
    EmptyJoin,
    /// A node has no name.
    EmptyName,
    /// A line starts at END.
    EndAsSource,
    /// A join waits for nodes of which a decision that is made once starts only one. The finding
    /// is at the second of them.
    JoinOnExclusiveArms {
        /// The place of the first among the sources.
        first: usize,
        /// The branch that decides between them.
        decision: usize,
    },
    /// A join waits for a node, at which the finding is, that runs only after the join.
    JoinOnOwnDownstream,
    /// Nothing leads away from START.
    NoEntryPoint,
    /// Nodes that run in one superstep say that they write one field, which has no reducer.
    ParallelWrites {
        /// The field, an index into the topology's.
        field: usize,
        /// The nodes.
        nodes: Vec<usize>,
    },
    /// A node's name has a character that separates names in paths.
    ReservedCharacter {
        /// The character.
        character: char,
    },
    /// A node has the name of START or END.
    ReservedName,
    /// A line leads to START.
    StartAsTarget,
    /// A join waits for START.
    StartInJoin,
    /// In a graph whose routes are all known, a node that may jump does not say where.
    UndeclaredGoto,
    /// An old name is given to a node that does not exist.
    UnknownAliasNode,
    /// A list of breakpoints names a node that does not exist.
    UnknownInterruptNode,
    /// A join names a node that does not exist.
    UnknownJoinNode,
    /// A line starts at a node that does not exist.
    UnknownSource,
    /// A line leads to a node that does not exist.
    UnknownTarget,
    /// Nothing leads from START to a node.
    UnreachableNode {
        /// Nodes that would run only after it.
        followers: Vec<usize>,
    },
    /// A plain line leads to a worker, which takes an item.
    WorkerWithoutItem,
}

/// A place in a [`Topology`]; numbers are indices into its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// The graph as a whole.
    Graph,
    /// A node.
    Node(usize),
    /// An edge.
    Edge(usize),
    /// A join, and the part of it.
    Join(usize, JoinPart),
    /// A branch.
    Branch(usize),
    /// Where an arm of a branch leads.
    Answer {
        /// The branch.
        branch: usize,
        /// The arm.
        arm: usize,
        /// The target of the arm.
        target: usize,
    },
    /// A list of destinations.
    Destinations(usize),
    /// Where a list of destinations leads.
    Destination {
        /// The list.
        list: usize,
        /// The target in it.
        target: usize,
    },
    /// A breakpoint before a node.
    InterruptBefore(usize),
    /// A breakpoint after a node.
    InterruptAfter(usize),
    /// An old name of a node, an index into the list that the rule was given.
    Alias(usize),
}

impl At {
    /// The node that is here, or that the line here starts from. All of a join starts from its
    /// first node.
    pub fn source(self, topology: &Topology) -> Option<&NodeName> {
        Some(match self {
            Self::Graph | Self::InterruptBefore(_) | Self::InterruptAfter(_) | Self::Alias(_) => {
                return None;
            }
            Self::Node(node) => &topology.nodes.get(node)?.name,
            Self::Edge(edge) => &topology.edges.get(edge)?.from,
            Self::Join(join, JoinPart::Source(source)) => {
                topology.joins.get(join)?.sources.get(source)?
            }
            Self::Join(join, JoinPart::Whole | JoinPart::Target) => {
                topology.joins.get(join)?.sources.first()?
            }
            Self::Branch(branch) | Self::Answer { branch, .. } => {
                &topology.branches.get(branch)?.source
            }
            Self::Destinations(list) | Self::Destination { list, .. } => {
                &topology.destinations.get(list)?.source
            }
        })
    }

    /// The node that the line, or the breakpoint, here names as its target.
    pub fn target(self, topology: &Topology) -> Option<&NodeName> {
        match self {
            Self::Graph
            | Self::Node(_)
            | Self::Branch(_)
            | Self::Destinations(_)
            | Self::Alias(_) => None,
            Self::Edge(edge) => Some(&topology.edges.get(edge)?.to),
            Self::Join(join, _) => Some(&topology.joins.get(join)?.target),
            Self::Answer {
                branch,
                arm,
                target,
            } => {
                let arms = topology.branches.get(branch)?.arms.as_ref()?;
                arms.get(arm)?.targets.get(target)
            }
            Self::Destination { list, target } => {
                topology.destinations.get(list)?.targets.get(target)
            }
            Self::InterruptBefore(place) => breakpoint(&topology.interrupt_before, place),
            Self::InterruptAfter(place) => breakpoint(&topology.interrupt_after, place),
        }
    }
}

/// A part of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JoinPart {
    /// All of it.
    Whole,
    /// One of the nodes that it waits for.
    Source(usize),
    /// Where it leads.
    Target,
}

/// The node at a place of a list of breakpoints.
fn breakpoint(list: &Breakpoints, place: usize) -> Option<&NodeName> {
    match list {
        Breakpoints::Nodes(nodes) => nodes.get(place),
        Breakpoints::None | Breakpoints::All => None,
    }
}

/// Joins that can never fire, for any reason, in the order of the joins.
pub fn stuck_joins(analysis: &Analysis<'_>) -> Vec<Finding> {
    in_place([
        join_on_own_downstream(analysis),
        join_on_exclusive_arms(analysis),
    ])
}

/// The findings of several rules in the order of their places; at one place, in that of the rules.
pub(crate) fn in_place<const N: usize>(found: [Vec<Finding>; N]) -> Vec<Finding> {
    let mut found: Vec<Finding> = found.into_iter().flatten().collect();
    found.sort_by_key(|finding| finding.at);
    found
}

/// Every plain line: where it is, its source, and its target. Joins are not among them.
fn lines(topology: &Topology) -> impl Iterator<Item = (At, &NodeName, &NodeName)> {
    let edges = topology.edges.iter().enumerate();
    let edges = edges.map(|(edge, line)| (At::Edge(edge), &line.from, &line.to));
    let destinations = topology.destinations.iter().enumerate();
    let destinations = destinations.flat_map(|(list, from)| {
        let targets = from.targets.iter().enumerate();
        targets.map(move |(target, to)| (At::Destination { list, target }, &from.source, to))
    });
    edges.chain(answers(topology)).chain(destinations)
}

/// The lines of routers.
fn answers(topology: &Topology) -> impl Iterator<Item = (At, &NodeName, &NodeName)> {
    let branches = topology.branches.iter().enumerate();
    branches.flat_map(|(branch, line)| {
        let arms = line.arms.iter().flatten().enumerate();
        arms.flat_map(move |(arm, answer)| {
            let targets = answer.targets.iter().enumerate();
            targets.map(move |(target, to)| {
                let at = At::Answer {
                    branch,
                    arm,
                    target,
                };
                (at, &line.source, to)
            })
        })
    })
}

/// The names of the nodes.
fn names(topology: &Topology) -> std::collections::HashSet<&str> {
    topology.nodes.iter().map(|node| &*node.name).collect()
}
