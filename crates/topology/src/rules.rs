//! The wiring rules: functions from a graph to its violations, one for each rule.
//!
//! A finding gives a place as an index into the [`Topology`], and no text: `graph!` puts it at the
//! user's tokens, the builder names the nodes. Rules about single edges take the topology; rules
//! about reachability take its [`Analysis`].

use crate::{Breakpoints, NodeName, Topology};

mod aliases;
mod bounds;
mod cycles;
mod data_flow;
mod joins;
mod lines;
mod mentions;
mod names;
mod parallel;
mod reach;
mod twice;
mod unknown;

pub use crate::flow::Analysis;
pub use aliases::{alias_taken, unknown_alias_node};
pub use bounds::{bound_without_edge, duplicate_bound, endless};
pub use cycles::cycle_without_exit;
pub use data_flow::{never_read, read_before_write, unknown_field};
pub use joins::{join_on_exclusive_arms, join_on_own_downstream};
pub use lines::{
    empty_join, end_as_source, no_entry_point, start_as_target, start_in_join, undeclared_goto,
    worker_without_item,
};
pub use names::{duplicate_node, empty_name, reserved_character, reserved_name};
pub use parallel::parallel_writes;
pub use reach::{dead_end, empty_graph, unreachable_node};
#[cfg(feature = "draw")]
pub(crate) use twice::sources;
pub use twice::{duplicate_edge, duplicate_join, duplicate_join_source, duplicate_target};
pub use unknown::{unknown_interrupt_node, unknown_join_node, unknown_source, unknown_target};

/// A place in a graph that violates a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, with details beside the place.
    pub rule: Rule,
    /// The place of the violation.
    pub at: At,
}

impl Finding {
    fn new(rule: Rule, at: At) -> Self {
        Self { rule, at }
    }
}

/// The rules. Each bears the name of its function.
///
/// Numbers of nodes, joins and the like are indices into the [`Topology`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An alias already belongs to another node.
    AliasTaken,
    /// A bound is that of an edge that does not exist.
    BoundWithoutEdge,
    /// A run that enters a cycle never leaves it.
    CycleWithoutExit {
        /// The nodes of the cycle, in order.
        cycle: Vec<usize>,
    },
    /// A node has no successor, not even END.
    DeadEnd,
    /// An edge has a second bound.
    DuplicateBound {
        /// Its first one.
        first: usize,
    },
    /// An edge exists twice. A join of one node is an edge.
    DuplicateEdge {
        /// Its first occurrence: an edge or a join.
        first: At,
    },
    /// Two joins have the same sources and the same target.
    DuplicateJoin {
        /// The first of the two.
        first: usize,
    },
    /// A join names a source again.
    DuplicateJoinSource {
        /// Its first index among the sources.
        first: usize,
    },
    /// Several nodes have one name. The finding is at the first of them.
    DuplicateNode {
        /// The others.
        again: Vec<usize>,
    },
    /// An arm, or a list of destinations, names a target again.
    DuplicateTarget {
        /// Its first index among the targets.
        first: usize,
    },
    /// A graph without nodes.
    EmptyGraph,
    /// A join waits for nothing.
    EmptyJoin,
    /// A node has no name.
    EmptyName,
    /// An edge starts at END.
    EndAsSource,
    /// Nothing bounds how often a cycle is run.
    EndlessCycle {
        /// The nodes of the cycle, in order.
        cycle: Vec<usize>,
    },
    /// Nothing bounds how many items a map starts. The finding is at the worker.
    EndlessMap,
    /// A join waits for several nodes, but a decision that happens once starts only one of them.
    /// The finding is at the second of them.
    JoinOnExclusiveArms {
        /// The index of the first among the sources.
        first: usize,
        /// The branch that decides between them.
        decision: usize,
    },
    /// A join waits for a node that runs only after the join. The finding is at that node.
    JoinOnOwnDownstream,
    /// Nodes write a field that nothing reads. The finding is at the first of them.
    NeverRead {
        /// The field, an index into the topology's.
        field: usize,
        /// The nodes.
        nodes: Vec<usize>,
    },
    /// No edge starts at START.
    NoEntryPoint,
    /// Nodes of one superstep declare writes to one field, which has no reducer.
    ParallelWrites {
        /// The field, an index into the topology's.
        field: usize,
        /// The nodes.
        nodes: Vec<usize>,
    },
    /// A node reads a field that nothing has written before it.
    ReadBeforeWrite {
        /// The field, an index into the topology's.
        field: usize,
    },
    /// A node's name has a character that separates names in paths.
    ReservedCharacter {
        /// The character.
        character: char,
    },
    /// A node has the name of START or END.
    ReservedName,
    /// An edge leads to START.
    StartAsTarget,
    /// A join waits for START.
    StartInJoin,
    /// A node may jump, does not declare its targets, and all routes of the graph are known.
    UndeclaredGoto,
    /// An alias points to a node that does not exist.
    UnknownAliasNode,
    /// The input or the output names a field that does not exist.
    UnknownField,
    /// A list of breakpoints names a node that does not exist.
    UnknownInterruptNode,
    /// A join names a node that does not exist.
    UnknownJoinNode,
    /// An edge starts at a node that does not exist.
    UnknownSource,
    /// An edge leads to a node that does not exist.
    UnknownTarget,
    /// No path leads from START to a node.
    UnreachableNode {
        /// Nodes that are only reachable through it.
        followers: Vec<usize>,
    },
    /// A plain edge leads to a worker, which needs an item.
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
    /// A join or a part of it.
    Join(usize, JoinPart),
    /// A branch.
    Branch(usize),
    /// A target of an arm of a branch.
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
    /// A target in a list of destinations.
    Destination {
        /// The list.
        list: usize,
        /// The target in it.
        target: usize,
    },
    /// A bound of an edge: the edge from its source to its exit.
    Exit(usize),
    /// A breakpoint before a node.
    InterruptBefore(usize),
    /// A breakpoint after a node.
    InterruptAfter(usize),
    /// A field of the declared input.
    Input(usize),
    /// A field of the declared output.
    Output(usize),
    /// An alias, as an index into the list that the rule received.
    Alias(usize),
}

impl At {
    /// Returns the node at this place, or the source of the edge here. A whole join counts as
    /// starting from its first node.
    pub fn source(self, topology: &Topology) -> Option<&NodeName> {
        Some(match self {
            Self::Graph
            | Self::InterruptBefore(_)
            | Self::InterruptAfter(_)
            | Self::Input(_)
            | Self::Output(_)
            | Self::Alias(_) => return None,
            Self::Node(node) => &topology.nodes.get(node)?.name,
            Self::Edge(edge) => &topology.edges.get(edge)?.from,
            Self::Exit(bound) => &topology.edge_bounds.get(bound)?.from,
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

    /// Returns the target that the edge or the breakpoint here names.
    pub fn target(self, topology: &Topology) -> Option<&NodeName> {
        match self {
            Self::Graph
            | Self::Node(_)
            | Self::Branch(_)
            | Self::Destinations(_)
            | Self::Input(_)
            | Self::Output(_)
            | Self::Alias(_) => None,
            Self::Edge(edge) => Some(&topology.edges.get(edge)?.to),
            Self::Exit(bound) => topology.edge_bounds.get(bound)?.exit.as_ref(),
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
    /// The whole join.
    Whole,
    /// One of its sources.
    Source(usize),
    /// Its target.
    Target,
}

/// Returns the node at an index of a list of breakpoints.
fn breakpoint(list: &Breakpoints, place: usize) -> Option<&NodeName> {
    match list {
        Breakpoints::Nodes(nodes) => nodes.get(place),
        Breakpoints::None | Breakpoints::All => None,
    }
}

/// Returns the joins that can never fire, for any reason, in the order of the joins.
pub fn stuck_joins(analysis: &Analysis<'_>) -> Vec<Finding> {
    in_place(vec![
        join_on_own_downstream(analysis),
        join_on_exclusive_arms(analysis),
    ])
}

/// Sorts the findings of several rules by place; at one place, by rule.
pub(crate) fn in_place(found: Vec<Vec<Finding>>) -> Vec<Finding> {
    let mut all = Vec::new();
    for mut of_rule in found {
        all.append(&mut of_rule);
    }
    all.sort_by_key(|finding: &Finding| finding.at);
    all
}
