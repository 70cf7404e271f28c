//! The progress of joins.

use crate::checkpoint::UnfilledJoin;
use crate::graph::NodeName;
use crate::node::GraphPath;
use crate::state::FieldSet;

/// The sources that a join has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinProgress {
    pub(crate) sources: FieldSet,
    pub(crate) count: usize,
}

/// Returns the joins with some of their sources, but not all; `names` are the sources and the target
/// of each.
pub(crate) fn unfilled_joins(
    joins: &[JoinProgress],
    names: &[(Vec<NodeName>, NodeName)],
    path: &GraphPath,
) -> Vec<UnfilledJoin> {
    let joins = joins.iter().zip(names);
    let unfilled = joins.filter(|(seen, _)| seen.count > 0);
    let report = unfilled.map(|(seen, (sources, target))| {
        UnfilledJoin::new(path, sources, target, |index, _| {
            seen.sources.contains(index)
        })
    });
    report.collect()
}
