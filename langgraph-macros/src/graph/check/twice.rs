//! The rules about duplicates.

use std::collections::BTreeSet;

use super::underline;
use crate::diag::{Errors, Range};
use crate::graph::model::{Edge, Model, Place};
use langgraph_topology::Topology;
use langgraph_topology::rules::{self, At, JoinPart, Rule};

/// Finds duplicates. A name that occurs twice in a group makes two edges into the group and two
/// sources of its successor; it is reported once.
pub(super) struct Twice<'a> {
    model: &'a Model,
    graph: &'a Topology,
    errors: &'a mut Errors,
    /// The reported places.
    reported: BTreeSet<usize>,
}

impl<'a> Twice<'a> {
    pub(super) fn new(model: &'a Model, graph: &'a Topology, errors: &'a mut Errors) -> Self {
        Self {
            model,
            graph,
            errors,
            reported: BTreeSet::new(),
        }
    }

    pub(super) fn check(mut self) {
        self.duplicate_edge();
        self.duplicate_join_source();
        self.duplicate_join();
        self.duplicate_target();
    }

    /// One edge exists twice.
    fn duplicate_edge(&mut self) {
        for found in rules::duplicate_edge(self.graph) {
            let Rule::DuplicateEdge { first } = found.rule else {
                continue;
            };
            match (self.edge(found.at), self.edge(first)) {
                // One target, after a group that names the source twice.
                (Some(edge), Some(first)) if edge.to.mention == first.to.mention => {
                    self.again(edge.from, first.from, "this group");
                }
                _ => self.report(found.at, first),
            }
        }
    }

    /// A join names one source twice.
    fn duplicate_join_source(&mut self) {
        for found in rules::duplicate_join_source(self.graph) {
            let (Rule::DuplicateJoinSource { first }, At::Join(join, _)) = (found.rule, found.at)
            else {
                continue;
            };
            let first = At::Join(join, JoinPart::Source(first));
            let places = (self.model.source(found.at), self.model.source(first));
            if let (Some(place), Some(first)) = places {
                self.again(place, first, "this group");
            }
        }
    }

    /// Two joins have the same sources and the same target.
    fn duplicate_join(&mut self) {
        for found in rules::duplicate_join(self.graph) {
            if let Rule::DuplicateJoin { first } = found.rule {
                self.report(found.at, At::Join(first, JoinPart::Whole));
            }
        }
    }

    /// An arm, or a list of destinations, names one target twice.
    fn duplicate_target(&mut self) {
        for found in rules::duplicate_target(self.graph) {
            let Rule::DuplicateTarget { first } = found.rule else {
                continue;
            };
            let (first, list) = match found.at {
                At::Answer { branch, arm, .. } => {
                    let target = first;
                    let first = At::Answer {
                        branch,
                        arm,
                        target,
                    };
                    (first, "this arm")
                }
                At::Destination { list, .. } => {
                    let target = first;
                    (At::Destination { list, target }, "this list")
                }
                _ => continue,
            };
            let places = (self.model.target(found.at), self.model.target(first));
            if let (Some(place), Some(first)) = places {
                self.again(place, first, list);
            }
        }
    }

    fn again(&mut self, place: Place, first: Place, list: &str) {
        if self.reported.insert(place.mention) {
            let name = self.model.name(place.vertex);
            self.errors.with_note(
                (
                    Range::at(place.span),
                    format_args!("`{name}` is twice in {list}: remove one"),
                ),
                (
                    Range::at(first.span),
                    format_args!("`{name}` is first written here"),
                ),
            );
        }
    }

    /// Reports a repeated edge or join.
    fn report(&mut self, here: At, there: At) {
        let places = (self.model.target(here), self.line(here), self.line(there));
        let (Some(target), Some(here_is), Some(there_is)) = places else {
            return;
        };
        self.reported.insert(target.mention);
        let name = self.name(here, target);
        self.errors.with_note(
            (here_is, format_args!("duplicate edge {name}: remove one")),
            (there_is, format_args!("{name} is first written here")),
        );
    }

    fn edge(&self, at: At) -> Option<&'a Edge> {
        match at {
            At::Edge(edge) => self.model.edges.get(edge),
            _ => None,
        }
    }

    /// Returns the range to underline for an edge or a join.
    fn line(&self, at: At) -> Option<Range> {
        match self.edge(at) {
            Some(edge) => Some(underline(edge)),
            None => Some(Range::at(self.model.target(at)?.span)),
        }
    }

    /// Returns an edge or a join as written.
    fn name(&self, at: At, target: Place) -> String {
        let sources = match at {
            At::Join(join, _) => self
                .model
                .joins
                .get(join)
                .map(|join| join.sources.as_slice()),
            _ => None,
        };
        let edge = self.edge(at).map(|edge| edge.from);
        let mut names: Vec<&str> = Vec::new();
        for source in sources.unwrap_or(edge.as_slice()) {
            let name = self.model.name(source.vertex);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let to = self.model.name(target.vertex);
        match names.as_slice() {
            [only] => format!("`{only} => {to}`"),
            names => format!("`[{}] => {to}`", names.join(", ")),
        }
    }
}
