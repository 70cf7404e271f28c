//! Whether a stored join is one of today's.

use langgraph_core::checkpoint::JoinRecord;
use langgraph_topology::NodeName;

/// Returns true if a stored join is this one: its sources and its target, and no subgraph's. `now` returns today's name of a
/// stored one. Sources are stored in the order in which the nodes were declared, which may have changed.
pub(crate) fn is_same_join(
    stored: &JoinRecord,
    (sources, target): &(Vec<NodeName>, NodeName),
    now: impl Fn(&NodeName) -> NodeName,
) -> bool {
    if !stored.namespace.is_empty()
        || now(&stored.target) != *target
        || stored.sources.len() != sources.len()
    {
        return false;
    }
    let mut known = stored.sources.iter();
    known.all(|source| sources.contains(&now(source)))
}
