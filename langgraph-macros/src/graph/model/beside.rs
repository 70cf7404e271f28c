//! Finds parallel nodes.

use std::collections::BTreeMap;

use proc_macro2::Span;

use super::{Model, Place};
use crate::diag::Range;
use langgraph_topology::flow::NODES;
use langgraph_topology::together::together;

/// Two nodes that one source starts in one superstep.
pub(crate) struct Beside {
    pub(crate) first: usize,
    pub(crate) second: usize,
    /// Both, if they stand in one group; otherwise the second.
    pub(crate) at: Range,
    /// The first.
    pub(crate) start: Span,
}

/// A target, and its source.
#[derive(Clone, Copy)]
struct Target {
    place: Place,
    from: usize,
}

impl Model {
    /// Returns the pairs of parallel nodes, without duplicates. Workers do not count: their number
    /// is unknown.
    pub(crate) fn beside(&self) -> Vec<Beside> {
        let mut edges = Vec::new();
        for edge in &self.edges {
            let (place, from) = (edge.to, edge.from.mention);
            edges.push((edge.from.vertex, Target { place, from }));
        }
        let mut joins = Vec::new();
        for join in &self.joins {
            let sources = join.sources.iter().map(|source| source.vertex).collect();
            let from = join.sources.first().map_or(0, |source| source.mention);
            let place = join.target;
            joins.push((sources, Target { place, from }));
        }
        let mut arms = Vec::new();
        for switch in &self.switches {
            for arm in switch.arms.iter().filter(|arm| arm.map.is_none()) {
                let from = arm.targets.first().map_or(0, |target| target.mention);
                let targets = arm.targets.iter();
                let targets = targets.map(|place| Target {
                    place: *place,
                    from,
                });
                let targets: Vec<Target> = targets.collect();
                for source in &switch.sources {
                    arms.push((source.vertex, targets.clone()));
                }
            }
        }
        let mut pairs: BTreeMap<(usize, usize), Beside> = BTreeMap::new();
        for mut set in together(&edges, &joins, &arms) {
            set.retain(|target| self.may_write(target.place.vertex));
            set.sort_by_key(|target| target.place.mention);
            for (index, first) in set.iter().enumerate() {
                for second in set.iter().skip(index + 1) {
                    let key = (first.place.vertex, second.place.vertex);
                    if key.0 != key.1 && !pairs.contains_key(&(key.1, key.0)) {
                        pairs.entry(key).or_insert_with(|| beside(first, second));
                    }
                }
            }
        }
        pairs.into_values().collect()
    }

    fn may_write(&self, vertex: usize) -> bool {
        let node = vertex.checked_sub(NODES).and_then(|at| self.nodes.get(at));
        node.is_some_and(|node| node.worker.is_none())
    }
}

fn beside(first: &Target, second: &Target) -> Beside {
    let at = if first.from == second.from {
        Range(first.place.span, second.place.span)
    } else {
        Range::at(second.place.span)
    };
    Beside {
        first: first.place.vertex,
        second: second.place.vertex,
        at,
        start: first.place.span,
    }
}
