//! What is probably a mistake in a graph, although it could run.

use std::collections::{HashMap, HashSet};

use super::topology::{Branch, END, NodeInfo, NodeName, START, Topology};
use langgraph_wiring::flow::{self, Analysis, Flow, Stuck};

mod parallel;

/// Something in a graph that can run but is hardly what was meant.
///
/// In `graph!`, where the targets of every route are known, these are compile errors. A graph
/// made with the builder may jump anywhere at run time, so there they are collected, and are
/// errors only where they are denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Lint {
    /// A graph without nodes.
    #[error("the graph has no nodes; add one between START and END")]
    EmptyGraph,

    /// One edge, written twice. It counts once.
    #[error("the edge from `{from}` to `{to}` is there twice; remove one")]
    DuplicateEdge {
        /// Where the edge starts.
        from: NodeName,
        /// Where it leads.
        to: NodeName,
    },

    /// A join names a source twice. It waits for it once.
    #[error("the edge to `{target}` waits for `{node}` twice; remove one")]
    DuplicateJoinSource {
        /// The source.
        node: NodeName,
        /// Where the join leads.
        target: NodeName,
    },

    /// In a graph whose routes are all known, a node that may jump does not say where.
    #[error(
        "`{node}` can choose the next node itself but does not say which; \
         add `{node} => goto [..]` with the nodes, or END, that it chooses from"
    )]
    UndeclaredGoto {
        /// The node.
        node: NodeName,
    },

    /// Nothing leads from START to a node.
    #[error(
        "`{node}` can never run: no edge leads to it from START{}",
        nor(.followers)
    )]
    UnreachableNode {
        /// The node.
        node: NodeName,
        /// Nodes that would run only after it.
        followers: Vec<NodeName>,
    },

    /// Nothing follows a node, not even END.
    #[error("nothing follows `{node}`: add an edge to the next node, or to END")]
    DeadEnd {
        /// The node.
        node: NodeName,
    },

    /// A run that enters a cycle never leaves it.
    #[error(
        "the cycle `{}` never ends: give one of its nodes a way out that it, or a router, \
         can choose",
        around(.cycle)
    )]
    CycleWithoutExit {
        /// The nodes of the cycle, in order.
        cycle: Vec<NodeName>,
    },

    /// A join waits for a node that runs only after the join.
    #[error("`{target}` waits for `{node}`, but `{node}` only runs after `{target}`")]
    JoinOnOwnDownstream {
        /// Where the join leads.
        target: NodeName,
        /// The source that comes too late.
        node: NodeName,
    },

    /// A join waits for nodes of which only one is ever started.
    #[error(
        "`{target}` waits for both `{first}` and `{second}`, but the decision after \
         `{decision}` starts only one of them; give each its own edge to `{target}`"
    )]
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
    /// Whenever they do, the run fails with an
    /// [`InvalidUpdate`](crate::InvalidUpdate).
    #[error(
        "{} run side by side, and each writes `{field}`, which has no reducer; \
         give it one, or let one run after the other",
        together(.nodes)
    )]
    ParallelWrites {
        /// The field.
        field: String,
        /// The nodes, as far as they say what they write.
        nodes: Vec<NodeName>,
    },
}

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
/// use langgraph::graph::{Edge, Lint, NodeInfo, START, Topology, lints};
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

#[cfg(test)]
mod tests {
    use super::super::testing::graph;
    use super::*;

    fn told(text: &str) -> Vec<String> {
        lints(&graph(text))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn ordinary_graphs_have_no_lints() {
        for text in [
            "S>a a>E",
            "S>a a>b b>c c>E",
            "S>a a?tools|E tools>a",
            "S>a a>b a>c b+c>d d>E",
            "S>a a!b|E b>a",
            "S>plan plan*write write>best best>E",
            // Branches of different length meet.
            "S>a a>b a>c c>c2 c2>c3 b+c3>d d>E",
            // A loop over a join: the next round fills it again.
            "S>a a>b a>c b+c>d d?a|E",
            // Two nodes behind different arms, in a loop: both run over time.
            "S>a a?b|c b+c>d d>E b>a c>a",
            // The router of a worker is asked once per item.
            "S>p p*w w?b|c b+c>d d>E",
            // Both ways into the decision run, so it is made twice.
            "S>x S>y x>a y>z z>a a?b|c b+c>d d>E",
        ] {
            assert_eq!(told(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a16_an_unreachable_node_is_told_once_with_what_follows_it() {
        assert_eq!(
            told("S>a a>E x>y y>E"),
            ["`x` can never run: no edge leads to it from START, and so neither can `y`"]
        );
        // Nodes that lead only to each other.
        let lint = lints(&graph("S>a a>E x>y y>x"));
        let (node, followers) = ("x".into(), vec!["y".into()]);
        assert_eq!(lint, [Lint::UnreachableNode { node, followers }]);
    }

    #[test]
    fn whoever_may_jump_anywhere_reaches_every_node() {
        assert_eq!(told("S>a a?? x>E"), [""; 0]);
        assert_eq!(told("S>a ~a x>E"), [""; 0]);
        // But not when it cannot be reached itself.
        assert_eq!(told("S>a a>E x?? y>E").len(), 2);
    }

    #[test]
    fn a_dead_end_is_told_once_however_much_leads_to_it() {
        assert_eq!(
            told("S>a a>b b>c"),
            ["nothing follows `c`: add an edge to the next node, or to END"]
        );
        // An arm that leads nowhere ends the branch.
        assert_eq!(told("S>a a?"), [""; 0]);
    }

    #[test]
    fn a_cycle_needs_a_way_out_that_is_chosen() {
        let never = |cycle: &str| {
            format!(
                "the cycle `{cycle}` never ends: give one of its nodes a way out that it, \
                 or a router, can choose"
            )
        };
        assert_eq!(told("S>a a>b b>a"), [never("a => b => a")]);
        assert_eq!(told("S>a a>a"), [never("a => a")]);
        // The edge to END does not stop the edge back.
        assert_eq!(told("S>a a>b b>a b>E"), [never("a => b => a")]);
        assert_eq!(told("S>a a?b|c b>a c>a"), [never("a => b => a")]);
        assert_eq!(told("S>a S>b a+b>c c>a c>b c>E"), [never("a => c => a")]);
        // A join that also waits for something outside fires once.
        assert_eq!(told("S>a S>x a+x>c c>a c>E"), [""; 0]);
        // A node that decides for itself does not follow its edges then.
        assert_eq!(told("S>a a>b b>a b!E"), [""; 0]);
    }

    #[test]
    fn a_join_on_what_comes_after_it_never_fires() {
        assert_eq!(
            told("S>a a+b>c c?b|E"),
            ["`c` waits for `b`, but `b` only runs after `c`"]
        );
        // Two joins that wait for each other.
        assert_eq!(
            told("S>a S>b a+x>c c>y b+y>d d?x|E"),
            [
                "`c` waits for `x`, but `x` only runs after `c`",
                "`d` waits for `y`, but `y` only runs after `d`"
            ]
        );
        // Only the cause is told, not the join that waits for the stuck one.
        assert_eq!(told("S>a S>e a+b>c c?b|f e+f>g g>E").len(), 1);
        // Another edge starts the target first.
        assert_eq!(told("S>a a>c a+b>c c?b|E b>E"), [""; 0]);
    }

    #[test]
    fn a_join_on_two_arms_of_one_decision_never_fires() {
        assert_eq!(
            told("S>a a?b|c b+c>d d>E"),
            [
                "`d` waits for both `b` and `c`, but the decision after `a` starts only one of \
              them; give each its own edge to `d`"
            ]
        );
        assert_eq!(told("S?b|c b>b2 b2+c>d d>E").len(), 1);
        // One arm that starts both, or a second way to one of them.
        assert_eq!(told("S>a a?b&c|E b+c>d d>E"), [""; 0]);
        assert_eq!(told("S>a a?b|c a>c b+c>d d>E c>E"), [""; 0]);
    }

    #[test]
    fn what_is_written_twice_is_told() {
        assert_eq!(
            told("S>a a>E a>E"),
            ["the edge from `a` to `__end__` is there twice; remove one"]
        );
        assert_eq!(
            told("S>a S>b a+b>c b+a>c c>E"),
            ["the edge from `[b, a]` to `c` is there twice; remove one"]
        );
        assert_eq!(
            told("S>a a+a>b b>E"),
            ["the edge to `b` waits for `a` twice; remove one"]
        );
    }

    #[test]
    fn only_a_closed_graph_must_say_where_nodes_jump() {
        let mut closed = graph("S>a ~a a>E");
        assert_eq!(lints(&closed), []);
        closed.closed = true;
        assert_eq!(lints(&closed), [Lint::UndeclaredGoto { node: "a".into() }]);
    }

    #[test]
    fn a_graph_without_nodes_is_told() {
        assert_eq!(
            told("S>E"),
            ["the graph has no nodes; add one between START and END"]
        );
    }

    #[test]
    fn a_thousand_nodes_take_no_time() {
        let mut text = String::from("S>n0 ");
        for node in 0..1_000 {
            let next = if node == 999 {
                "E".to_owned()
            } else {
                format!("n{}", node + 1)
            };
            let step = [
                format!("n{node}?{next}|m{node}"),
                format!("m{node}>o{node} m{node}+o{node}>p{node} p{node}>E "),
            ];
            text += &step.join(" ");
        }
        let topology = graph(&text);
        // The best of several: a busy machine slows some of them, a quadratic rule all of them.
        let spent = (0..5).map(|_| {
            let start = std::time::Instant::now();
            assert_eq!(lints(&topology), []);
            start.elapsed()
        });
        let best = spent.min().unwrap();
        assert!(best < std::time::Duration::from_millis(500), "{best:?}");
    }
}
