//! The worst case of a small graph, by every way that a run can go.
//!
//! A run stands at the nodes of its next superstep. With the sources of joins that have run, the deferred nodes
//! that wait, and how often bounded edges have been followed, that decides what each answer of the routers leads
//! to. So the longest way is the worst case itself, also where several decisions depend on each other.

use std::collections::HashMap;

use super::wiring::{Position, Wiring};
use super::worst::Worst;
use crate::Topology;

/// The answers of routers that are followed before the graph is too large.
const ANSWERS: usize = 1 << 14;
/// The supersteps of a run.
const DEEPEST: usize = 256;

/// Finds the worst case. `None` if the graph is too large, or if something else than routers that choose an arm
/// decides where runs go.
pub(super) fn explore(topology: &Topology) -> Option<Worst> {
    let wiring = Wiring::new(topology)?;
    let mut explorer = Explorer {
        wiring: &wiring,
        nodes: topology.nodes.len(),
        known: HashMap::new(),
        left: ANSWERS,
    };
    let mut runs = explorer.worst(wiring.start(), 0)?;
    // Taking the input is none.
    let supersteps = runs.pop()?.saturating_sub(1);
    Some(Worst { supersteps, runs })
}

struct Explorer<'a> {
    wiring: &'a Wiring,
    nodes: usize,
    /// What is left of a run at a position at worst: the runs of each node, and the supersteps.
    known: HashMap<Position, Vec<u64>>,
    /// The answers that may still be followed.
    left: usize,
}

impl Explorer<'_> {
    fn worst(&mut self, at: Position, depth: usize) -> Option<Vec<u64>> {
        let mut most = vec![0; self.nodes + 1];
        if at.active.is_empty() {
            return Some(most);
        }
        if let Some(known) = self.known.get(&at) {
            return Some(known.clone());
        }
        let answers = self.wiring.answers(&at).filter(|_| depth < DEEPEST)?;
        self.left = self.left.checked_sub(answers)?;
        for answer in 0..answers {
            let rest = self.worst(self.wiring.follow(&at, answer), depth + 1)?;
            for (most, rest) in most.iter_mut().zip(rest) {
                *most = rest.max(*most);
            }
        }
        // One more run of each node, and one more superstep. START has no place.
        let nodes = at.active.iter().filter(|node| **node < self.nodes);
        for place in nodes.chain([&self.nodes]) {
            if let Some(count) = most.get_mut(*place) {
                *count += 1;
            }
        }
        self.known.insert(at, most.clone());
        Some(most)
    }
}
