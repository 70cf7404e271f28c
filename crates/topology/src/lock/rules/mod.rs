//! The rules of the lock: functions from a graph, as it was locked and as it is, to what broke.

use super::change::{BreakingChange, Broken};
use super::renames::Renames;
use crate::{NodeKind, NodeName, Topology};

mod fields;
mod joins;
mod keys;
mod nodes;
mod routes;

use fields::{
    field_gone, field_reshaped, field_retyped, reducer_changed, state_renamed, version_lowered,
};
use joins::join_changed;
use keys::{
    approval_gone, interrupt_changed, once_renamed, once_retyped, shape_changed, task_changed,
};
use nodes::{item_changed, node_gone, subgraph_exchanged};
use routes::route_gone;

/// Returns the changes from one graph to another that strand a thread of the first, or continue it with
/// another meaning; also in subgraphs.
///
/// # Examples
///
/// ```
/// use langgraph::graph::lock::breaking_changes;
/// use langgraph::graph::{END, Edge, NodeInfo, START, Topology};
///
/// let graph = |node: &str| {
///     let mut graph = Topology::default();
///     graph.nodes.push(NodeInfo::new(node));
///     for (from, to) in [(START, node), (node, END)] {
///         graph.edges.push(Edge { from: from.into(), to: to.into() });
///     }
///     graph
/// };
/// let (before, mut now) = (graph("publish"), graph("release"));
/// let changes = breaking_changes(&before, &now);
/// assert!(changes[0].to_string().starts_with(
///     "a thread may wait for node `publish`, which is gone: if it is `release` now, \
///      write `#[node(alias = \"publish\")]` on it"
/// ));
///
/// now.nodes[0].aliases.push("publish".to_owned());
/// assert_eq!(breaking_changes(&before, &now), []);
/// ```
pub fn breaking_changes(before: &Topology, now: &Topology) -> Vec<BreakingChange> {
    let mut found = Vec::new();
    compare(before, now, &mut Vec::new(), &mut found);
    found
}

fn compare(
    before: &Topology,
    now: &Topology,
    path: &mut Vec<NodeName>,
    found: &mut Vec<BreakingChange>,
) {
    let renames = Renames(now);
    let broken = [
        state_renamed(before, now),
        version_lowered(before, now),
        field_gone(before, now),
        field_retyped(before, now),
        field_reshaped(before, now),
        reducer_changed(before, now),
        node_gone(before, now, renames),
        item_changed(before, renames),
        subgraph_exchanged(before, renames),
        interrupt_changed(before, renames),
        approval_gone(before, renames),
        once_renamed(before, renames),
        once_retyped(before, renames),
        task_changed(before, renames),
        shape_changed(before, renames),
        join_changed(before, now, renames),
        route_gone(before, now, renames),
    ];
    found.extend(broken.into_iter().flatten().map(|what| BreakingChange {
        path: path.clone(),
        location: what.location(now),
        what,
    }));
    for node in &before.nodes {
        if let NodeKind::Subgraph(inner) = &node.kind
            && let Some(today) = renames.node(&node.name)
            && let NodeKind::Subgraph(inner_now) = &today.kind
            && inner.name == inner_now.name
        {
            path.push(today.name.clone());
            compare(inner, inner_now, path, found);
            path.pop();
        }
    }
}
