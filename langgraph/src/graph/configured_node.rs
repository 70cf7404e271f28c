//! Nodes with options.

use std::fmt;
use std::sync::Arc;

use crate::node::{Items, NodeMeta, Step};
use crate::policy::Policies;
use crate::state::State;
use langgraph_topology::{NodeInfo, NodeKind};

/// A node with its options, as [`NodeExt`](super::NodeExt)'s methods return it.
pub struct ConfiguredNode<S: State> {
    pub(crate) step: Arc<dyn Step<S>>,
    pub(crate) info: NodeInfo,
    pub(crate) aliases: Vec<String>,
    pub(crate) policies: Policies<S>,
    /// The state type of a subgraph in the node that cannot be stored as bytes.
    pub(crate) unstorable: Option<&'static str>,
    /// Finds the items, if the node runs as one task for each.
    pub(crate) items: Option<Arc<Items<S>>>,
}

impl<S: State> ConfiguredNode<S> {
    pub(crate) fn new(step: Arc<dyn Step<S>>, may_goto: bool) -> Self {
        let mut info = NodeInfo::new("");
        info.may_goto = may_goto;
        Self {
            step,
            info,
            aliases: Vec::new(),
            policies: Policies::default(),
            unstorable: None,
            items: None,
        }
    }

    pub(crate) fn unstorable(mut self, state: Option<&'static str>) -> Self {
        self.unstorable = state;
        self
    }

    pub(crate) fn with_kind(mut self, kind: NodeKind) -> Self {
        self.info.kind = kind;
        self
    }

    /// Copies what `#[node]` knows about the function.
    pub(crate) fn described<M: NodeMeta>(mut self) -> Self {
        self.info.docs = M::DOCS.map(str::to_owned);
        self.info.writes =
            M::WRITES.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        self.aliases = M::ALIASES.iter().map(|name| (*name).to_owned()).collect();
        self
    }
}

impl<S: State> Clone for ConfiguredNode<S> {
    fn clone(&self) -> Self {
        Self {
            step: Arc::clone(&self.step),
            info: self.info.clone(),
            aliases: self.aliases.clone(),
            policies: self.policies.clone(),
            unstorable: self.unstorable,
            items: self.items.clone(),
        }
    }
}

impl<S: State> fmt::Debug for ConfiguredNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredNode")
            .field("info", &self.info)
            .field("policies", &self.policies)
            .finish_non_exhaustive()
    }
}
