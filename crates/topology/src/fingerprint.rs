//! Fingerprints of graphs.

use super::{NodeKind, Topology};
use crate::hash::Fnv;

impl Topology {
    /// Returns a number that changes if nodes are added, removed or renamed, or if edges change.
    ///
    /// Every checkpoint stores it. It is the same for the same wiring in any build.
    pub fn fingerprint(&self) -> u64 {
        let mut fnv = Fnv::new();
        for node in &self.nodes {
            fnv.byte(b'n');
            fnv.text(&node.name);
            fnv.byte(u8::from(node.defer));
            if let NodeKind::Subgraph(inner) = &node.kind {
                let inner = inner.fingerprint().to_le_bytes();
                for byte in inner {
                    fnv.byte(byte);
                }
            }
        }
        for edge in &self.edges {
            fnv.byte(b'e');
            fnv.text(&edge.from);
            fnv.text(&edge.to);
        }
        for join in &self.joins {
            fnv.byte(b'j');
            join.sources.iter().for_each(|source| fnv.text(source));
            fnv.text(&join.target);
        }
        for branch in &self.branches {
            fnv.byte(b'b');
            fnv.text(&branch.source);
            for arm in branch.arms.iter().flatten() {
                fnv.text(&arm.label);
                arm.targets.iter().for_each(|target| fnv.text(target));
            }
        }
        for destinations in &self.destinations {
            fnv.byte(b'd');
            fnv.text(&destinations.source);
            destinations
                .targets
                .iter()
                .for_each(|target| fnv.text(target));
        }
        fnv.finish()
    }
}
