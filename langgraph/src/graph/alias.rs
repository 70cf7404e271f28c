//! Names that nodes had before.

use super::builder::StateGraph;
use super::{CompilationError, NodeName};
use crate::node::NodeId;
use crate::state::State;

impl<S: State> StateGraph<S> {
    /// Says that `node` was called `old` before: a thread that waits for `old` goes on there.
    ///
    /// The same as [`alias`](crate::node::NodeExt::alias) on the node, and as
    /// `#[node(alias = "…")]`, in one place and for nodes of every kind.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// graph
    ///     .add_node("research", |n: &i64| n + 1)
    ///     .add_sequence(&["research"])
    ///     .add_node_alias("search", "research");
    /// assert!(graph.compile().is_ok());
    /// ```
    pub fn add_node_alias(
        &mut self,
        old: impl Into<NodeName>,
        node: impl Into<NodeName>,
    ) -> &mut Self {
        self.aliases.push((old.into(), node.into()));
        self
    }

    /// Every alias, with its node.
    fn all_aliases(&self) -> impl Iterator<Item = (NodeName, &NodeName)> {
        let own = self.nodes.iter().zip(&self.topology.nodes);
        let own = own.flat_map(|(node, info)| {
            let aliases = node.aliases.iter();
            aliases.map(|alias| (NodeName::from(alias.as_str()), &info.name))
        });
        own.chain(self.aliases.iter().map(|(old, node)| (old.clone(), node)))
    }

    /// The aliases, each with its node.
    pub(super) fn aliases_by_node(&self) -> Box<[(NodeName, NodeId)]> {
        let place = |name: &NodeName| self.topology.nodes.iter().position(|n| n.name == *name);
        let found = self.all_aliases();
        let found = found.filter_map(|(old, node)| Some((old, NodeId::declared(place(node)?))));
        found.collect()
    }

    /// What is wrong with the aliases.
    pub(super) fn alias_problems(&self) -> Vec<CompilationError> {
        let names = || self.topology.nodes.iter().map(|node| &node.name);
        let mut seen: Vec<(NodeName, &NodeName)> = Vec::new();
        let mut found = Vec::new();
        for (alias, node) in self.all_aliases() {
            let other = seen.iter().find(|(seen, of)| *seen == alias && *of != node);
            if !names().any(|name| name == node) {
                let similar =
                    langgraph_topology::similar::did_you_mean(node, names().map(|name| &**name));
                found.push(CompilationError::UnknownAliasNode {
                    did_you_mean: similar.map(NodeName::from),
                    alias,
                    node: node.clone(),
                });
                continue;
            }
            if other.is_some() || names().any(|name| *name == alias) {
                found.push(CompilationError::AliasTaken {
                    alias: alias.clone(),
                    node: node.clone(),
                });
            }
            seen.push((alias, node));
        }
        found
    }
}
