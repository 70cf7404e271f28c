//! The rules about unknown names.

use super::mentions::Mentions;
use super::{At, Finding, JoinPart, Rule};
use crate::names::Names;
use crate::{END, START, Topology};

/// An edge starts at a node that does not exist. Each name is reported once.
pub fn unknown_source(topology: &Topology) -> Vec<Finding> {
    let known = Names::of_nodes(topology);
    let mut reported = Names::default();
    let mut found = Vec::new();
    for (place, source) in Mentions::sources(topology).0.into_iter().enumerate() {
        if is_unknown(&known, source.name) && reported.first(source.name, place) == place {
            found.push(Finding::new(Rule::UnknownSource, source.at));
        }
    }
    found
}

/// An edge leads to a node that does not exist.
pub fn unknown_target(topology: &Topology) -> Vec<Finding> {
    let known = Names::of_nodes(topology);
    let targets = Mentions::targets(topology);
    targets.report(&Rule::UnknownTarget, &|to| is_unknown(&known, to.name))
}

/// A join names a node that does not exist, as a source or as its target.
pub fn unknown_join_node(topology: &Topology) -> Vec<Finding> {
    let known = Names::of_nodes(topology);
    let mut found = Vec::new();
    let mut check = |name: &str, at: At| {
        if is_unknown(&known, name) {
            found.push(Finding::new(Rule::UnknownJoinNode, at));
        }
    };
    for (join, line) in topology.joins.iter().enumerate() {
        for (source, name) in line.sources.iter().enumerate() {
            check(name, At::Join(join, JoinPart::Source(source)));
        }
        check(&line.target, At::Join(join, JoinPart::Target));
    }
    found
}

/// A list of breakpoints names a node that does not exist.
pub fn unknown_interrupt_node(topology: &Topology) -> Vec<Finding> {
    let known = Names::of_nodes(topology);
    let before = Mentions::breakpoints(&topology.interrupt_before, At::InterruptBefore);
    let after = Mentions::breakpoints(&topology.interrupt_after, At::InterruptAfter);
    let stops = before.and(after);
    stops.report(&Rule::UnknownInterruptNode, &|stop| {
        !known.contains(stop.name)
    })
}

/// Returns true for a name that no node has. Other rules check START and END.
fn is_unknown(known: &Names<'_>, name: &str) -> bool {
    !matches!(name, START | END) && !known.contains(name)
}
