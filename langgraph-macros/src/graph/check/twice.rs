//! The rules about what is written twice.

use std::collections::{BTreeMap, BTreeSet};

use super::underline;
use crate::diag::{Errors, Range};
use crate::graph::model::{Edge, Join, Model, Place};

/// Finds what is written twice. A name that is doubled in a group makes two edges into the group
/// and two sources of what follows it; it is told once.
pub(super) struct Twice<'a> {
    model: &'a Model,
    errors: &'a mut Errors,
    /// The places that have been told.
    told: BTreeSet<usize>,
}

impl<'a> Twice<'a> {
    pub(super) fn new(model: &'a Model, errors: &'a mut Errors) -> Self {
        Self {
            model,
            errors,
            told: BTreeSet::new(),
        }
    }

    pub(super) fn check(mut self) {
        self.duplicate_edge();
        self.duplicate_join_source();
        self.duplicate_join();
        self.duplicate_target();
    }

    /// One edge is written twice.
    fn duplicate_edge(&mut self) {
        let mut seen: BTreeMap<(usize, usize), &Edge> = BTreeMap::new();
        for edge in &self.model.edges {
            let key = (edge.from.vertex, edge.to.vertex);
            let Some(first) = seen.get(&key) else {
                seen.insert(key, edge);
                continue;
            };
            if edge.to.mention == first.to.mention {
                // One target, behind a group that has the source twice.
                self.again(edge.from, first.from, "this group");
            } else {
                self.told.insert(edge.to.mention);
                let name = self.edge(edge.from.vertex, edge.to.vertex);
                self.report(&name, underline(edge), underline(first));
            }
        }
    }

    /// A join names one source twice.
    fn duplicate_join_source(&mut self) {
        for join in &self.model.joins {
            self.once_each(&join.sources, "this group");
        }
    }

    /// Two joins wait for the same nodes and lead to the same one.
    fn duplicate_join(&mut self) {
        let mut seen: BTreeMap<(Vec<usize>, usize), &Join> = BTreeMap::new();
        for join in &self.model.joins {
            let mut sources: Vec<usize> = join.sources.iter().map(|place| place.vertex).collect();
            sources.sort_unstable();
            sources.dedup();
            let key = (sources, join.target.vertex);
            let Some(first) = seen.get(&key) else {
                seen.insert(key, join);
                continue;
            };
            self.told.insert(join.target.mention);
            let mut names: Vec<&str> = Vec::new();
            for source in &join.sources {
                let name = self.model.name(source.vertex);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let (names, to) = (names.join(", "), self.model.name(join.target.vertex));
            let name = format!("`[{names}] => {to}`");
            let (here, there) = (Range::at(join.target.span), Range::at(first.target.span));
            self.report(&name, here, there);
        }
    }

    /// An arm, or a list of destinations, names one target twice.
    fn duplicate_target(&mut self) {
        for arm in self.model.switches.iter().flat_map(|switch| &switch.arms) {
            self.once_each(&arm.targets, "this arm");
        }
        for goto in &self.model.gotos {
            self.once_each(&goto.targets, "this list");
        }
    }

    fn once_each(&mut self, places: &[Place], list: &str) {
        let mut seen: BTreeMap<usize, Place> = BTreeMap::new();
        for place in places {
            match seen.get(&place.vertex) {
                None => {
                    seen.insert(place.vertex, *place);
                }
                Some(first) => self.again(*place, *first, list),
            }
        }
    }

    fn again(&mut self, place: Place, first: Place, list: &str) {
        if self.told.insert(place.mention) {
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

    fn report(&mut self, edge: &str, here: Range, there: Range) {
        self.errors.with_note(
            (here, format_args!("duplicate edge {edge}: remove one")),
            (there, format_args!("{edge} is first written here")),
        );
    }

    fn edge(&self, from: usize, to: usize) -> String {
        format!("`{} => {}`", self.model.name(from), self.model.name(to))
    }
}
