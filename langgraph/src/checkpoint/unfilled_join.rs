//! Unfilled joins.

use std::fmt;

use serde::{Deserialize, Serialize};

use langgraph_core::checkpoint::JoinRecord;
use langgraph_topology::NodeName;

/// A join with some of its sources, but not all.
///
/// If a run ends with one, the join's target did not run. In most graphs that is a mistake: a
/// branch took another path, and the join still waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnfilledJoin {
    /// The path of nodes to the join's graph, outermost first; empty at the root.
    pub namespace: Vec<NodeName>,
    /// All sources of the join.
    pub sources: Vec<NodeName>,
    /// The node that runs after all of them.
    pub target: NodeName,
    /// The sources that have run.
    pub seen: Vec<NodeName>,
}

impl UnfilledJoin {
    /// Creates it from a join and what has come: `came` says whether the source at a place has come.
    pub fn new(
        namespace: &[NodeName],
        sources: &[NodeName],
        target: &NodeName,
        came: impl Fn(usize, &NodeName) -> bool,
    ) -> Self {
        let seen = sources.iter().enumerate();
        let seen = seen.filter(|(index, source)| came(*index, source));
        Self {
            namespace: namespace.to_vec(),
            seen: seen.map(|(_, source)| source.clone()).collect(),
            sources: sources.to_vec(),
            target: target.clone(),
        }
    }

    /// Creates it from its record in the log of the graph at `namespace`.
    pub(crate) fn stored(namespace: &[NodeName], record: &JoinRecord) -> Self {
        let record = record.clone();
        Self {
            namespace: match record.namespace {
                own if own.is_empty() => namespace.to_vec(),
                subgraph => subgraph,
            },
            sources: record.sources,
            target: record.target,
            seen: record.seen,
        }
    }

    /// Returns its record in the log of the graph at `namespace`.
    pub(crate) fn into_record(self, namespace: &[NodeName]) -> JoinRecord {
        JoinRecord {
            namespace: match self.namespace {
                own if own == namespace => Vec::new(),
                subgraph => subgraph,
            },
            sources: self.sources,
            target: self.target,
            seen: self.seen,
        }
    }

    /// Returns the sources that have not run.
    pub fn missing(&self) -> impl Iterator<Item = &NodeName> {
        self.sources
            .iter()
            .filter(|source| !self.seen.contains(source))
    }
}

impl fmt::Display for UnfilledJoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |nodes: &mut dyn Iterator<Item = &NodeName>| {
            let nodes: Vec<_> = nodes.map(|node| format!("`{node}`")).collect();
            nodes.join(" and ")
        };
        let mut around = self.namespace.join("/");
        if !around.is_empty() {
            around.push('/');
        }
        write!(
            f,
            "`{around}{}` waits for {}; {} came",
            self.target,
            list(&mut self.missing()),
            list(&mut self.seen.iter()),
        )
    }
}
