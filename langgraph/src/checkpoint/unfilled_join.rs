//! Joins that wait.

use std::fmt;

use serde::{Deserialize, Serialize};

use langgraph_topology::NodeName;

/// A join that has seen some of the nodes it waits for, and not all.
///
/// A run that ends with one has left out the join's target. That is a mistake in most graphs: a
/// branch took another way, and nobody told the join.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnfilledJoin {
    /// The nodes around the join's graph, outermost first; empty at the root.
    pub namespace: Vec<NodeName>,
    /// All nodes that the join waits for.
    pub sources: Vec<NodeName>,
    /// The node that runs when they have all come.
    pub target: NodeName,
    /// Those that have come.
    pub seen: Vec<NodeName>,
}

impl UnfilledJoin {
    pub(crate) fn new(
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

    /// The nodes that have not come.
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
