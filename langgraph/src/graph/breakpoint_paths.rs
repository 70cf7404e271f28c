//! Breakpoints of a run at nodes of its subgraphs, which are named by paths: `research:search`.

use super::{Breakpoints, NodeName, Topology};
use crate::error::AgentError;
use crate::node::GraphPath;

/// Splits the breakpoints of a run into those at nodes of its graph, and the paths of others.
///
/// # Errors
///
/// If one of those nodes does not exist.
pub(crate) fn split(
    topology: &Topology,
    breakpoints: &Breakpoints,
) -> Result<(Breakpoints, Vec<NodeName>), AgentError> {
    let Breakpoints::Nodes(names) = breakpoints else {
        return Ok((breakpoints.clone(), Vec::new()));
    };
    let (paths, own): (Vec<_>, Vec<_>) = names.iter().cloned().partition(|name| name.contains(':'));
    match paths.iter().find(|path| topology.node_at(path).is_none()) {
        Some(path) => Err(unknown(path)),
        None => Ok((Breakpoints::Nodes(own), paths)),
    }
}

/// Returns the error of a breakpoint at a node that does not exist.
pub(super) fn unknown(node: &str) -> AgentError {
    AgentError::InvalidOption(format!("breakpoint at `{node}`: there is no such node"))
}

/// Returns the breakpoints at nodes of the subgraph at that path; `None` if there are none.
pub(crate) fn below(paths: &[NodeName], graph: &GraphPath) -> Option<Breakpoints> {
    let inner = paths.iter().filter_map(|path| {
        let below = graph.iter().try_fold(&**path, |rest, node| {
            rest.strip_prefix(&**node)?.strip_prefix(':')
        })?;
        (!below.contains(':')).then(|| NodeName::from(below))
    });
    let inner: Vec<NodeName> = inner.collect();
    (!inner.is_empty()).then_some(Breakpoints::Nodes(inner))
}
