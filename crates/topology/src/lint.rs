//! Probable mistakes in a graph that could run.

use std::fmt;

use crate::rules::{self, Analysis, At, Finding, Rule, in_place};
use crate::{NodeName, Topology};

#[cfg(test)]
mod tests;

/// A probable mistake in a graph that could run.
///
/// In `graph!`, where the targets of every route are known, these are compile errors. A graph made
/// with the builder may jump anywhere at run time, so lints are collected there. They are errors
/// only if lints are denied.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lint {
    /// A graph without nodes.
    EmptyGraph,

    /// An edge exists twice. It counts once.
    DuplicateEdge {
        /// The source of the edge.
        from: NodeName,
        /// The target of the edge.
        to: NodeName,
    },

    /// A join names a source twice. It waits for it once.
    DuplicateJoinSource {
        /// The source.
        node: NodeName,
        /// The target of the join.
        target: NodeName,
    },

    /// A node may jump, does not declare its targets, and all routes of the graph are known.
    UndeclaredGoto {
        /// The node.
        node: NodeName,
    },

    /// No path leads from START to a node.
    UnreachableNode {
        /// The node.
        node: NodeName,
        /// Nodes that are only reachable through it.
        followers: Vec<NodeName>,
    },

    /// A node has no successor, not even END.
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
        /// The target of the join.
        target: NodeName,
        /// The source that runs too late.
        node: NodeName,
    },

    /// A join waits for several nodes, but only one of them is ever started.
    JoinOnExclusiveArms {
        /// The target of the join.
        target: NodeName,
        /// A source.
        first: NodeName,
        /// A source in another arm.
        second: NodeName,
        /// The node whose router decides, or START.
        decision: NodeName,
    },

    /// Nodes of one superstep declare writes to one field, which has no reducer.
    ///
    /// If both write it, the run fails with an `InvalidUpdate`.
    ParallelWrites {
        /// The field.
        field: String,
        /// The nodes that declare the field.
        nodes: Vec<NodeName>,
    },

    /// A node reads a field that is not part of the declared input, and that no node writes before it.
    ReadBeforeWrite {
        /// The node.
        node: NodeName,
        /// The field.
        field: String,
    },

    /// Nodes write a field that no node reads, and that is not part of the declared output.
    NeverRead {
        /// The field.
        field: String,
        /// The nodes that write it.
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
            Self::ReadBeforeWrite { node, field } => write!(
                f,
                "`{node}` reads `{field}`, and nothing has written it before: let a node before it \
                 write `{field}`, or name it in the graph's input"
            ),
            Self::NeverRead { field, nodes } => {
                let verb = if nodes.len() == 1 { "writes" } else { "write" };
                write!(
                    f,
                    "{} {verb} `{field}`, and nothing reads it: remove it, or name it in the \
                     graph's output",
                    together(nodes)
                )
            }
        }
    }
}

impl std::error::Error for Lint {}

crate::debug_is_message!(Lint);

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
    let mut list = String::new();
    for (place, name) in names.iter().enumerate() {
        list.push_str(if place == 0 { "`" } else { ", `" });
        list.push_str(name);
        list.push('`');
    }
    list
}

fn around(cycle: &[NodeName]) -> String {
    let mut path = String::new();
    for name in cycle {
        path.push_str(name);
        path.push_str(" => ");
    }
    path.push_str(cycle.first().map_or("", |first| first));
    path
}

/// Returns the probable mistakes in a graph, in a fixed order.
///
/// A node that may jump anywhere, or a router with unknown answers, counts as an edge to every
/// node.
///
/// # Examples
///
/// ```
/// use langgraph::graph::{Edge, Lint, NodeInfo, START, Topology, lints};
///
/// let mut graph = Topology::default();
/// graph.nodes.push(NodeInfo::new("a"));
/// graph.edges.push(Edge { from: START.into(), to: "a".into() });
/// assert_eq!(lints(&graph), [Lint::DeadEnd { node: "a".into() }]);
/// ```
pub fn lints(topology: &Topology) -> Vec<Lint> {
    let mut found = line_findings(topology);
    found.extend(rules::empty_graph(topology));
    let analysis = Analysis::new(topology);
    found.extend(rules::unreachable_node(&analysis));
    found.extend(rules::dead_end(&analysis));
    found.extend(rules::cycle_without_exit(&analysis));
    found.extend(rules::stuck_joins(&analysis));
    found.extend(rules::parallel_writes(topology, &analysis));
    found.extend(rules::read_before_write(topology, &analysis));
    found.extend(rules::never_read(topology));
    in_words(topology, &found)
}

/// Returns the lints about a single edge or node; they apply to a broken graph too.
pub(crate) fn line_lints(topology: &Topology) -> Vec<Lint> {
    in_words(topology, &line_findings(topology))
}

fn line_findings(topology: &Topology) -> Vec<Finding> {
    let mut found = in_place(vec![
        rules::duplicate_edge(topology),
        rules::duplicate_join(topology),
    ]);
    found.extend(rules::duplicate_join_source(topology));
    found.extend(rules::undeclared_goto(topology));
    found
}

fn in_words(topology: &Topology, found: &[Finding]) -> Vec<Lint> {
    let mut lints: Vec<Lint> = Vec::new();
    for finding in found {
        let Some(lint) = Lint::of(topology, finding) else {
            continue;
        };
        // A source that occurs three times is reported once.
        if !matches!(lint, Lint::DuplicateJoinSource { .. }) || !lints.contains(&lint) {
            lints.push(lint);
        }
    }
    lints
}

impl Lint {
    /// Converts a finding, if its rule is a lint.
    fn of(topology: &Topology, Finding { rule, at }: &Finding) -> Option<Self> {
        let names = |nodes: &[usize]| {
            let mut names = Vec::new();
            for node in nodes {
                if let Some(node) = topology.nodes.get(*node) {
                    names.push(NodeName::clone(&node.name));
                }
            }
            names
        };
        let (from, to) = (at.source(topology), at.target(topology));
        Some(match rule {
            Rule::EmptyGraph => Self::EmptyGraph,
            Rule::DuplicateEdge { .. } => {
                let (from, to) = (from?.clone(), to?.clone());
                Self::DuplicateEdge { from, to }
            }
            Rule::DuplicateJoin { .. } => {
                let At::Join(join, _) = at else { return None };
                let from = group(&topology.joins.get(*join)?.sources);
                let to = to?.clone();
                Self::DuplicateEdge { from, to }
            }
            Rule::DuplicateJoinSource { .. } => {
                let (node, target) = (from?.clone(), to?.clone());
                Self::DuplicateJoinSource { node, target }
            }
            Rule::UndeclaredGoto => Self::UndeclaredGoto {
                node: from?.clone(),
            },
            Rule::UnreachableNode { followers } => {
                let (node, followers) = (from?.clone(), names(followers));
                Self::UnreachableNode { node, followers }
            }
            Rule::DeadEnd => Self::DeadEnd {
                node: from?.clone(),
            },
            Rule::CycleWithoutExit { cycle } => Self::CycleWithoutExit {
                cycle: names(cycle),
            },
            Rule::JoinOnOwnDownstream => {
                let (node, target) = (from?.clone(), to?.clone());
                Self::JoinOnOwnDownstream { target, node }
            }
            Rule::JoinOnExclusiveArms { first, decision } => {
                let At::Join(join, _) = at else { return None };
                let first = topology.joins.get(*join)?.sources.get(*first)?.clone();
                let (second, target) = (from?.clone(), to?.clone());
                let decision = topology.branches.get(*decision)?.source.clone();
                Self::JoinOnExclusiveArms {
                    target,
                    first,
                    second,
                    decision,
                }
            }
            Rule::ParallelWrites { field, nodes } => Self::ParallelWrites {
                field: topology.fields.get(*field)?.name.clone(),
                nodes: names(nodes),
            },
            Rule::ReadBeforeWrite { field } => Self::ReadBeforeWrite {
                node: from?.clone(),
                field: topology.fields.get(*field)?.name.clone(),
            },
            Rule::NeverRead { field, nodes } => Self::NeverRead {
                field: topology.fields.get(*field)?.name.clone(),
                nodes: names(nodes),
            },
            Rule::AliasTaken
            | Rule::BoundWithoutEdge
            | Rule::DuplicateBound { .. }
            | Rule::DuplicateNode { .. }
            | Rule::DuplicateTarget { .. }
            | Rule::EmptyJoin
            | Rule::EmptyName
            | Rule::EndAsSource
            | Rule::EndlessCycle { .. }
            | Rule::EndlessMap
            | Rule::NoEntryPoint
            | Rule::ReservedCharacter { .. }
            | Rule::ReservedName
            | Rule::StartAsTarget
            | Rule::StartInJoin
            | Rule::UnknownAliasNode
            | Rule::UnknownField
            | Rule::UnknownInterruptNode
            | Rule::UnknownJoinNode
            | Rule::UnknownSource
            | Rule::UnknownTarget
            | Rule::WorkerWithoutItem => return None,
        })
    }
}

/// Writes the sources of a join as `graph!` does.
fn group(sources: &[NodeName]) -> NodeName {
    let mut names: Vec<&str> = Vec::new();
    for source in sources {
        if !names.contains(&&**source) {
            names.push(source);
        }
    }
    format!("[{}]", names.join(", ")).into()
}
