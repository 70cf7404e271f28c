//! Aliases: former names of nodes.

use std::sync::Arc;

use super::builder::StateGraph;
use super::{NodeName, Topology};
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
    pub(super) fn all_aliases(&self) -> Vec<(NodeName, NodeName)> {
        let mut aliases = Vec::new();
        for info in &self.topology.nodes {
            for alias in &info.aliases {
                aliases.push((alias.as_str().into(), Arc::clone(&info.name)));
            }
        }
        aliases.extend_from_slice(&self.aliases);
        aliases
    }

    /// Adds the aliases of [`add_node_alias`](Self::add_node_alias) to the nodes of a checked graph.
    pub(super) fn add_aliases_to(&self, topology: &mut Topology) {
        for (alias, node) in &self.aliases {
            let mut nodes = topology.nodes.iter_mut();
            if let Some(node) = nodes.find(|info| info.name == *node)
                && !node.aliases.iter().any(|known| **known == **alias)
            {
                node.aliases.push(alias.to_string());
            }
        }
    }
}
