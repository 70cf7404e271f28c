//! The names of a graph.

use std::collections::HashMap;

use crate::Topology;

/// Names, each with its first place.
#[derive(Default)]
pub(crate) struct Names<'a>(HashMap<&'a str, usize>);

impl<'a> Names<'a> {
    /// Returns the names of the nodes, with the index of the first node of each.
    pub(crate) fn of_nodes(topology: &'a Topology) -> Self {
        let mut names = Self::default();
        for (node, info) in topology.nodes.iter().enumerate() {
            names.first(&info.name, node);
        }
        names
    }

    /// Returns the sources of the lists of destinations.
    pub(crate) fn of_destinations(topology: &'a Topology) -> Self {
        let mut names = Self::default();
        for (list, line) in topology.destinations.iter().enumerate() {
            names.first(&line.source, list);
        }
        names
    }

    /// Returns the first place of a name: this one, if the name is new.
    pub(crate) fn first(&mut self, name: &'a str, place: usize) -> usize {
        *self.0.entry(name).or_insert(place)
    }

    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}
