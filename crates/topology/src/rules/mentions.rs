//! Where a graph names nodes.

use super::{At, Finding, JoinPart, Rule};
use crate::{Breakpoints, NodeName, Topology};

/// A name, and where the graph mentions it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mention<'a> {
    pub(super) at: At,
    pub(super) name: &'a str,
}

/// A list of mentions.
pub(super) struct Mentions<'a>(pub(super) Vec<Mention<'a>>);

impl<'a> Mentions<'a> {
    /// Returns where edges start: those that are no joins.
    pub(super) fn sources(topology: &'a Topology) -> Self {
        let mut found = Self(Vec::new());
        for (edge, line) in topology.edges.iter().enumerate() {
            found.push(At::Edge(edge), &line.from);
        }
        for (branch, line) in topology.branches.iter().enumerate() {
            found.push(At::Branch(branch), &line.source);
        }
        for (list, line) in topology.destinations.iter().enumerate() {
            found.push(At::Destinations(list), &line.source);
        }
        found
    }

    /// Returns where edges lead: those that are no joins.
    pub(super) fn targets(topology: &'a Topology) -> Self {
        let mut found = Self::plain_targets(topology);
        found.0.extend(Self::answers(topology).0);
        for (list, line) in topology.destinations.iter().enumerate() {
            for (target, name) in line.targets.iter().enumerate() {
                found.push(At::Destination { list, target }, name);
            }
        }
        found
    }

    /// Returns where unconditional edges lead, and the exits of bounds.
    pub(super) fn plain_targets(topology: &'a Topology) -> Self {
        let mut found = Self(Vec::new());
        for (edge, line) in topology.edges.iter().enumerate() {
            found.push(At::Edge(edge), &line.to);
        }
        for (bound, line) in topology.edge_bounds.iter().enumerate() {
            if let Some(exit) = &line.exit {
                found.push(At::Exit(bound), exit);
            }
        }
        found
    }

    /// Returns where the arms of routers lead.
    pub(super) fn answers(topology: &'a Topology) -> Self {
        let mut found = Self(Vec::new());
        for (branch, line) in topology.branches.iter().enumerate() {
            for (arm, answer) in line.arms.iter().flatten().enumerate() {
                for (target, name) in answer.targets.iter().enumerate() {
                    let at = At::Answer {
                        branch,
                        arm,
                        target,
                    };
                    found.push(at, name);
                }
            }
        }
        found
    }

    /// Returns what joins wait for.
    pub(super) fn join_sources(topology: &'a Topology) -> Self {
        let mut found = Self(Vec::new());
        for (join, line) in topology.joins.iter().enumerate() {
            for (source, name) in line.sources.iter().enumerate() {
                found.push(At::Join(join, JoinPart::Source(source)), name);
            }
        }
        found
    }

    /// Returns where joins lead.
    pub(super) fn join_targets(topology: &'a Topology) -> Self {
        let mut found = Self(Vec::new());
        for (join, line) in topology.joins.iter().enumerate() {
            found.push(At::Join(join, JoinPart::Target), &line.target);
        }
        found
    }

    /// Returns the breakpoints of a list.
    pub(super) fn breakpoints(list: &'a Breakpoints, at: fn(usize) -> At) -> Self {
        let mut found = Self(Vec::new());
        if let Breakpoints::Nodes(nodes) = list {
            for (place, name) in nodes.iter().enumerate() {
                found.push(at(place), name);
            }
        }
        found
    }

    pub(super) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Reports the mentions that are `wrong`.
    pub(super) fn report(&self, rule: &Rule, wrong: &dyn Fn(Mention<'a>) -> bool) -> Vec<Finding> {
        let mut found = Vec::new();
        for mention in &self.0 {
            if wrong(*mention) {
                found.push(Finding::new(rule.clone(), mention.at));
            }
        }
        found
    }

    fn push(&mut self, at: At, name: &'a NodeName) {
        self.0.push(Mention { at, name });
    }
}
