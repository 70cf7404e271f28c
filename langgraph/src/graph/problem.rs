//! What makes a graph impossible to run, found when it is compiled.

use std::collections::{HashMap, HashSet};

use super::lint::{self, Lint};
use super::topology::{Breakpoints, END, NodeKind, NodeName, START, Topology};
use langgraph_wiring::similar::did_you_mean;

/// One reason why a graph cannot be compiled.
///
/// # Examples
///
/// ```
/// use langgraph::graph::{CompilationError, Topology, problems};
///
/// let empty = Topology::default();
/// assert_eq!(problems(&empty), [CompilationError::NoEntryPoint]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompilationError {
    /// A node has no name.
    #[error("a node has an empty name; give it one in `add_node`")]
    EmptyName,

    /// A node has the name of START or END.
    #[error("`{name}` is reserved; give the node another name")]
    ReservedName {
        /// The name.
        name: NodeName,
    },

    /// A node's name has a character that separates names in paths.
    #[error("the node name `{name}` contains `{character}`, which is reserved; leave it out")]
    ReservedCharacter {
        /// The name.
        name: NodeName,
        /// The character, `|` or `:`.
        character: char,
    },

    /// Two nodes have one name.
    #[error("two nodes are called `{name}`; give one of them another name")]
    DuplicateNode {
        /// The name.
        name: NodeName,
    },

    /// A line starts at END.
    #[error("END ends a branch, so no edge can lead from it to `{target}`; remove that edge")]
    EndAsSource {
        /// Where the line leads.
        target: NodeName,
    },

    /// A line leads to START.
    #[error(
        "START is where a run begins, so no edge can lead to it from `{from}`; \
         for a loop, name the node to go back to"
    )]
    StartAsTarget {
        /// Where the line comes from.
        from: NodeName,
    },

    /// A join waits for nothing.
    #[error("the edge to `{target}` waits for no nodes; name at least one source")]
    EmptyJoin {
        /// Where the join leads.
        target: NodeName,
    },

    /// A join waits for START.
    #[error("`{target}` waits for START, which is no node; give it an edge from START instead")]
    StartInJoin {
        /// Where the join leads.
        target: NodeName,
    },

    /// A join names a node that was never added.
    #[error("the edge that waits for several nodes names `{node}`, which is no node{}", suggested(.did_you_mean.as_ref()))]
    UnknownJoinNode {
        /// The unknown name, a source or the target.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// A line starts at a node that was never added.
    #[error("an edge starts at `{node}`, which is no node{}", suggested(.did_you_mean.as_ref()))]
    UnknownSource {
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// Nothing leads away from START.
    #[error("the graph has no entry point; add an edge from START")]
    NoEntryPoint,

    /// A line leads to a node that was never added.
    #[error("an edge from `{from}` leads to `{node}`, which is no node{}", suggested(.did_you_mean.as_ref()))]
    UnknownTarget {
        /// Where the line comes from.
        from: NodeName,
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// A list of breakpoints names a node that was never added.
    #[error("the breakpoints name `{node}`, which is no node{}", suggested(.did_you_mean.as_ref()))]
    UnknownInterruptNode {
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// An old name is given to a node that was never added.
    #[error("`{alias}` is to be an alias of `{node}`, which is no node{}", suggested(.did_you_mean.as_ref()))]
    UnknownAliasNode {
        /// The old name.
        alias: NodeName,
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// An old name stands for two nodes.
    #[error(
        "`{alias}` is to be an alias of `{node}`, and stands for another node already; a name leads to one node"
    )]
    AliasTaken {
        /// The old name.
        alias: NodeName,
        /// The node that is to have it.
        node: NodeName,
    },

    /// A plain line leads to a worker.
    #[error(
        "`{worker}` takes an item, and the edge from `{from}` has none to give; \
         start it with a map or a send"
    )]
    WorkerWithoutItem {
        /// Where the line comes from.
        from: NodeName,
        /// The worker.
        worker: NodeName,
    },

    /// A lint, where lints are denied.
    #[error(transparent)]
    Lint(#[from] Lint),
}

fn suggested(name: Option<&NodeName>) -> String {
    name.map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

/// Every reason why a graph cannot be compiled, in a fixed order.
///
/// It is never empty. It prints as a numbered list, or as the one error it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilationErrors(Vec<CompilationError>);

impl CompilationErrors {
    /// The errors, the one to fix first at the front.
    pub fn iter(&self) -> std::slice::Iter<'_, CompilationError> {
        self.0.iter()
    }

    /// The errors as a slice.
    pub fn as_slice(&self) -> &[CompilationError] {
        &self.0
    }
}

impl std::fmt::Display for CompilationErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let [only] = self.as_slice() {
            return write!(f, "the graph cannot be compiled: {only}");
        }
        write!(
            f,
            "the graph cannot be compiled, for {} reasons:",
            self.0.len()
        )?;
        for (place, error) in self.iter().enumerate() {
            write!(f, "\n  {}. {error}", place + 1)?;
        }
        Ok(())
    }
}

impl std::error::Error for CompilationErrors {}

impl IntoIterator for CompilationErrors {
    type Item = CompilationError;
    type IntoIter = std::vec::IntoIter<CompilationError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a CompilationErrors {
    type Item = &'a CompilationError;
    type IntoIter = std::slice::Iter<'a, CompilationError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Checks a graph for [`problems`], and for [lints](super::lints) where they are denied.
///
/// `beside` is what is wrong with the parts of a graph that its topology does not show.
pub(crate) fn check(
    topology: &Topology,
    deny_lints: bool,
    beside: Vec<CompilationError>,
) -> Result<(), CompilationErrors> {
    let mut found = problems(topology);
    found.extend(beside);
    if deny_lints || topology.closed {
        // What a broken graph can reach says nothing yet about the one that is meant.
        let lints = if found.is_empty() {
            lint::lints(topology)
        } else {
            lint::line_lints(topology)
        };
        found.extend(lints.into_iter().map(CompilationError::Lint));
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(CompilationErrors(found))
    }
}

/// Everything that makes a graph impossible to run, in a fixed order: names, lines that no graph
/// can have, unknown sources, the entry point, unknown targets, breakpoints, workers.
pub fn problems(topology: &Topology) -> Vec<CompilationError> {
    let mut checker = Checker::new(topology);
    checker.names();
    checker.impossible_lines();
    checker.unknown_sources();
    checker.no_entry_point();
    checker.unknown_targets();
    checker.unknown_interrupt_nodes();
    checker.worker_without_item();
    checker.found
}

struct Checker<'a> {
    topology: &'a Topology,
    /// How often a name was added, and whether it is a worker's.
    known: HashMap<&'a str, (usize, bool)>,
    found: Vec<CompilationError>,
}

impl<'a> Checker<'a> {
    fn new(topology: &'a Topology) -> Self {
        let mut known = HashMap::new();
        for node in &topology.nodes {
            let is_worker = node.kind == NodeKind::Worker;
            known.entry(&*node.name).or_insert((0, is_worker)).0 += 1;
        }
        Self {
            topology,
            known,
            found: Vec::new(),
        }
    }

    fn similar(&self, name: &str) -> Option<NodeName> {
        did_you_mean(name, self.topology.nodes.iter().map(|node| &*node.name)).map(NodeName::from)
    }

    fn is_node(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    fn names(&mut self) {
        let mut told: HashSet<&str> = HashSet::new();
        for node in &self.topology.nodes {
            let name = &*node.name;
            if self.known.get(name).is_some_and(|(count, _)| *count > 1) && told.insert(name) {
                self.found.push(CompilationError::DuplicateNode {
                    name: node.name.clone(),
                });
            }
            if name.is_empty() {
                self.found.push(CompilationError::EmptyName);
            }
            if name == START || name == END {
                self.found.push(CompilationError::ReservedName {
                    name: node.name.clone(),
                });
            }
            if let Some(character) = name
                .chars()
                .find(|character| matches!(character, '|' | ':'))
            {
                let name = node.name.clone();
                self.found
                    .push(CompilationError::ReservedCharacter { name, character });
            }
        }
    }

    /// Every plain line: its source, and its targets.
    fn lines(&self) -> impl Iterator<Item = (&'a NodeName, &'a NodeName)> + use<'a> {
        let topology = self.topology;
        let edges = topology.edges.iter().map(|edge| (&edge.from, &edge.to));
        let arms = topology.branches.iter().flat_map(|branch| {
            let targets = branch.arms.iter().flatten().flat_map(|arm| &arm.targets);
            targets.map(move |target| (&branch.source, target))
        });
        let destinations = topology.destinations.iter();
        let destinations = destinations.flat_map(|from| {
            from.targets
                .iter()
                .map(move |target| (&from.source, target))
        });
        edges.chain(arms).chain(destinations)
    }

    fn impossible_lines(&mut self) {
        for edge in &self.topology.edges {
            if &*edge.from == END {
                self.found.push(CompilationError::EndAsSource {
                    target: edge.to.clone(),
                });
            }
            if &*edge.to == START {
                self.found.push(CompilationError::StartAsTarget {
                    from: edge.from.clone(),
                });
            }
        }
        for join in &self.topology.joins {
            self.impossible_join(join);
        }
        for (from, to) in self.lines().skip(self.topology.edges.len()) {
            if &**to == START {
                self.found
                    .push(CompilationError::StartAsTarget { from: from.clone() });
            }
        }
    }

    fn impossible_join(&mut self, join: &super::topology::Join) {
        let target = &join.target;
        if join.sources.is_empty() {
            self.found.push(CompilationError::EmptyJoin {
                target: target.clone(),
            });
        }
        for source in &join.sources {
            match &**source {
                END => self.found.push(CompilationError::EndAsSource {
                    target: target.clone(),
                }),
                START => self.found.push(CompilationError::StartInJoin {
                    target: target.clone(),
                }),
                _ => self.unknown_join_node(source),
            }
        }
        match &**target {
            START => {
                let from = join.sources.first().unwrap_or(target).clone();
                self.found.push(CompilationError::StartAsTarget { from });
            }
            END => {}
            _ => self.unknown_join_node(target),
        }
    }

    fn unknown_join_node(&mut self, node: &NodeName) {
        if !self.is_node(node) {
            let did_you_mean = self.similar(node);
            let node = node.clone();
            self.found
                .push(CompilationError::UnknownJoinNode { node, did_you_mean });
        }
    }

    fn unknown_sources(&mut self) {
        let edges = self.topology.edges.iter().map(|edge| &edge.from);
        let edges = edges.filter(|from| &***from != END);
        let branches = self.topology.branches.iter().map(|branch| &branch.source);
        let destinations = self.topology.destinations.iter().map(|from| &from.source);
        let mut told: HashSet<&str> = HashSet::new();
        for node in edges.chain(branches).chain(destinations) {
            if &**node != START && !self.is_node(node) && told.insert(node) {
                let did_you_mean = self.similar(node);
                let node = node.clone();
                self.found
                    .push(CompilationError::UnknownSource { node, did_you_mean });
            }
        }
    }

    fn no_entry_point(&mut self) {
        let edges = self.topology.edges.iter().map(|edge| &edge.from);
        let branches = self.topology.branches.iter().map(|branch| &branch.source);
        if !edges.chain(branches).any(|from| &**from == START) {
            self.found.push(CompilationError::NoEntryPoint);
        }
    }

    fn unknown_targets(&mut self) {
        for (from, node) in self.lines() {
            if &**node != START && &**node != END && !self.is_node(node) {
                let did_you_mean = self.similar(node);
                let (from, node) = (from.clone(), node.clone());
                self.found.push(CompilationError::UnknownTarget {
                    from,
                    node,
                    did_you_mean,
                });
            }
        }
    }

    fn unknown_interrupt_nodes(&mut self) {
        for list in [
            &self.topology.interrupt_before,
            &self.topology.interrupt_after,
        ] {
            let Breakpoints::Nodes(nodes) = list else {
                continue;
            };
            for node in nodes {
                if !self.is_node(node) {
                    let did_you_mean = self.similar(node);
                    let node = node.clone();
                    self.found
                        .push(CompilationError::UnknownInterruptNode { node, did_you_mean });
                }
            }
        }
    }

    fn worker_without_item(&mut self) {
        let topology = self.topology;
        let edges = topology.edges.iter().map(|edge| (&edge.from, &edge.to));
        let joins = topology.joins.iter();
        let joins = joins.filter_map(|join| Some((join.sources.first()?, &join.target)));
        // An open graph's router may answer an arm with sends.
        let branches = topology.branches.iter().filter(|_| topology.closed);
        let arms = branches.flat_map(|branch| {
            let arms = branch.arms.iter().flatten().filter(|arm| !arm.map);
            arms.flat_map(move |arm| arm.targets.iter().map(move |to| (&branch.source, to)))
        });
        for (from, to) in edges.chain(joins).chain(arms) {
            if self
                .known
                .get(&**to)
                .is_some_and(|(_, is_worker)| *is_worker)
            {
                let (from, worker) = (from.clone(), to.clone());
                self.found
                    .push(CompilationError::WorkerWithoutItem { from, worker });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::graph;
    use super::super::topology::NodeInfo;
    use super::*;

    fn told(topology: &Topology) -> Vec<String> {
        problems(topology).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a12_a_graph_without_an_edge_from_start_has_no_entry_point() {
        assert_eq!(
            problems(&Topology::default()),
            [CompilationError::NoEntryPoint]
        );
        assert_eq!(problems(&graph("a>b")), [CompilationError::NoEntryPoint]);
        assert_eq!(problems(&graph("S?a|b")), []);
    }

    #[test]
    fn a11_an_unknown_endpoint_is_named_with_a_similar_node() {
        let mut topology = graph("S>search search>E");
        topology.nodes.push(NodeInfo::new("tools"));
        let mut edges = graph("serach>tools tools>tolls").edges;
        topology.edges.append(&mut edges);
        assert_eq!(
            told(&topology),
            [
                "an edge starts at `serach`, which is no node; did you mean `search`?",
                "an edge from `tools` leads to `tolls`, which is no node; did you mean `tools`?",
            ]
        );
        let mut topology = graph("S>a");
        topology.joins = graph("a+ghost>b").joins;
        assert_eq!(told(&topology).len(), 2);
        assert!(told(&topology)[0].contains("names `ghost`, which is no node"));
    }

    #[test]
    fn a3_two_nodes_of_one_name_are_told_once() {
        let mut topology = graph("S>a a>E");
        topology
            .nodes
            .extend([NodeInfo::new("a"), NodeInfo::new("a")]);
        let name = "a".into();
        assert_eq!(
            problems(&topology),
            [CompilationError::DuplicateNode { name }]
        );
    }

    #[test]
    fn a4_reserved_names_are_refused() {
        let mut topology = graph("S>a");
        let names = ["__start__", "__end__", "", "x|y", "x:y"];
        topology.nodes.extend(names.map(NodeInfo::new));
        assert_eq!(
            told(&topology),
            [
                "`__start__` is reserved; give the node another name",
                "`__end__` is reserved; give the node another name",
                "a node has an empty name; give it one in `add_node`",
                "the node name `x|y` contains `|`, which is reserved; leave it out",
                "the node name `x:y` contains `:`, which is reserved; leave it out",
            ]
        );
    }

    #[test]
    fn a7_end_as_source_and_start_as_target_are_refused() {
        let end = |to: &str| CompilationError::EndAsSource { target: to.into() };
        let start = |from: &str| CompilationError::StartAsTarget { from: from.into() };
        assert_eq!(problems(&graph("S>a E>a")), [end("a")]);
        assert_eq!(problems(&graph("S>a a>S")), [start("a")]);
        assert_eq!(problems(&graph("S>a a?S|E")), [start("a")]);
        assert_eq!(problems(&graph("S>a a!S|E")), [start("a")]);
        assert_eq!(problems(&graph("S>a a+E>b b>E")), [end("b")]);
        let target = "b".into();
        assert_eq!(
            problems(&graph("S>a a+S>b")),
            [CompilationError::StartInJoin { target }]
        );
    }

    #[test]
    fn breakpoints_name_nodes() {
        let mut topology = graph("S>a a>E");
        topology.interrupt_before = Breakpoints::Nodes(vec!["a".into(), "b".into()]);
        topology.interrupt_after = Breakpoints::Nodes(vec![END.into()]);
        assert_eq!(
            told(&topology),
            [
                "the breakpoints name `b`, which is no node",
                "the breakpoints name `__end__`, which is no node",
            ]
        );
    }

    #[test]
    fn a_worker_needs_an_item() {
        let worker = |from: &str| CompilationError::WorkerWithoutItem {
            from: from.into(),
            worker: "w".into(),
        };
        assert_eq!(problems(&graph("S>a a*w w>E")), []);
        assert_eq!(problems(&graph("S>a a*w a>w w>E")), [worker("a")]);
        assert_eq!(problems(&graph("S>a S>b a*w a+b>w w>E")), [worker("a")]);
        let mut arm = graph("S>a a*w a?w|E w>E");
        assert_eq!(problems(&arm), []);
        arm.closed = true;
        assert_eq!(problems(&arm), [worker("a")]);
    }

    #[test]
    fn a15_all_problems_are_reported_at_once() {
        let mut topology = graph("S>a a>S E>a a>b b>b");
        topology.nodes.pop();
        let errors = check(&topology, false, Vec::new()).unwrap_err();
        assert_eq!(
            errors.to_string(),
            "the graph cannot be compiled, for 5 reasons:\n  \
             1. START is where a run begins, so no edge can lead to it from `a`; for a loop, \
             name the node to go back to\n  \
             2. END ends a branch, so no edge can lead from it to `a`; remove that edge\n  \
             3. an edge starts at `b`, which is no node\n  \
             4. an edge from `a` leads to `b`, which is no node\n  \
             5. an edge from `b` leads to `b`, which is no node"
        );
        assert_eq!(errors.iter().count(), (&errors).into_iter().count());
        assert_eq!(errors.into_iter().count(), 5);
    }

    #[test]
    fn lints_are_errors_where_they_are_denied() {
        let mut topology = graph("S>a");
        assert_eq!(check(&topology, false, Vec::new()), Ok(()));
        let denied = check(&topology, true, Vec::new()).unwrap_err();
        let lint = Lint::DeadEnd { node: "a".into() };
        assert_eq!(denied.as_slice(), [CompilationError::Lint(lint)]);
        assert!(
            denied
                .to_string()
                .starts_with("the graph cannot be compiled: nothing follows")
        );
        topology.closed = true;
        assert_eq!(check(&topology, false, Vec::new()), Err(denied));
    }
}
