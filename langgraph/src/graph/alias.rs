//! Aliases: former names of nodes.

use super::NodeName;
use super::builder::StateGraph;
use crate::node::NodeId;
use crate::state::State;

impl<S: State> StateGraph<S> {
    /// Declares `old` as a former name of `node`: a thread that waits for `old` continues there.
    ///
    /// This is the same as [`alias`](crate::graph::NodeExt::alias) on the node and as
    /// `#[node(alias = "…")]`, but it works for nodes of every kind.
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
    pub fn add_node_alias(&mut self, old: impl AsRef<str>, node: impl AsRef<str>) -> &mut Self {
        let (old, node) = (old.as_ref().into(), node.as_ref().into());
        self.aliases.push((old, node));
        self
    }

    /// Returns every alias, with its node.
    pub(super) fn all_aliases(&self) -> impl Iterator<Item = (NodeName, &NodeName)> {
        let own = self.nodes.iter().zip(&self.topology.nodes);
        let own = own.flat_map(|(node, info)| {
            let aliases = node.aliases.iter();
            aliases.map(|alias| (NodeName::from(alias.as_str()), &info.name))
        });
        own.chain(self.aliases.iter().map(|(old, node)| (old.clone(), node)))
    }

    /// Returns the aliases, each with its node.
    pub(super) fn aliases_by_node(&self) -> Box<[(NodeName, NodeId)]> {
        let place = |name: &NodeName| self.topology.nodes.iter().position(|n| n.name == *name);
        let found = self.all_aliases();
        let found = found.filter_map(|(old, node)| Some((old, NodeId::declared(place(node)?))));
        found.collect()
    }
}
