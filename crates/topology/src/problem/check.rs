//! Looks for what makes a graph impossible to run.

use std::collections::{HashMap, HashSet};

use super::{CompilationError, CompilationErrors};
use crate::lint;
use crate::similar::did_you_mean;
use crate::{Breakpoints, END, Join, NodeKind, NodeName, START, Topology};

/// Checks a graph for [`problems`], and for [lints](lint::lints) where they are denied.
///
/// `beside` is what is wrong with the parts of a graph that its topology does not show.
pub fn check(
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

    fn impossible_join(&mut self, join: &Join) {
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
