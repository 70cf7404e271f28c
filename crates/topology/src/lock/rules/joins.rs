//! The rule about joins.

use super::super::renames::Renames;
use super::Broken;
use crate::{END, Topology};

/// A join is gone, or has other sources or another target.
pub(super) fn join_changed(before: &Topology, now: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let mut found = Vec::new();
    // A join into END starts nothing.
    for join in before.joins.iter().filter(|join| &*join.target != END) {
        // A node that is gone is a finding of its own.
        let (Some(sources), Some(target)) =
            (renames.all(&join.sources), renames.name(&join.target))
        else {
            continue;
        };
        let is_kept = now.joins.iter().any(|today| {
            let mut names: Vec<&str> = today.sources.iter().map(|name| &**name).collect();
            names.sort_unstable();
            names == sources && &*today.target == target
        });
        if !is_kept {
            found.push(Broken::JoinChanged {
                sources: join.sources.clone(),
                target: join.target.clone(),
            });
        }
    }
    found
}
