//! Nodes with options.

use std::sync::Arc;

use crate::node::{Items, NeededResource, NodeMeta, Step};
use crate::policy::Policies;
use crate::state::State;
use langgraph_topology::{NodeInfo, NodeKind};

/// A node with its options, as [`NodeExt`](super::NodeExt)'s methods return it.
#[derive(Clone)]
pub struct ConfiguredNode<S: State> {
    pub(crate) step: Arc<dyn Step<S>>,
    pub(crate) info: NodeInfo,
    pub(crate) policies: Policies<S>,
    /// The state type of a subgraph in the node that cannot be stored as bytes.
    pub(crate) unstorable: Option<&'static str>,
    /// Finds the items, if the node runs as one task for each.
    pub(crate) items: Option<Arc<Items<S>>>,
    /// The resources that the node always asks for.
    pub(crate) needs: Vec<NeededResource>,
}

impl<S: State> ConfiguredNode<S> {
    pub(crate) fn new(step: Arc<dyn Step<S>>, may_goto: bool) -> Self {
        let mut info = NodeInfo::new("");
        info.may_goto = may_goto;
        Self {
            step,
            info,
            policies: Policies::default(),
            unstorable: None,
            items: None,
            needs: Vec::new(),
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
        self.info.interrupts = M::INTERRUPTS;
        self.info.calls = M::CALLS;
        self.info.docs = M::DOCS.map(str::to_owned);
        self.info.writes = M::WRITES.map(owned);
        let (reads, writes) = M::USES.split_once("=>").unwrap_or(("?", "?"));
        self.info.reads = fields(reads);
        self.info.may_write = fields(writes).or_else(|| self.info.writes.clone());
        self.info.aliases = owned(M::ALIASES);
        self.info.keys = M::keys();
        self.needs = M::needs();
        self
    }

    /// Notes that the node does not take the state, so that it reads no field.
    pub(crate) fn without_state(mut self) -> Self {
        self.info.reads.get_or_insert_default();
        self
    }
}

/// Reads names of fields; `None` for a `?`.
fn fields(text: &str) -> Option<Vec<String>> {
    let names = text.split_whitespace();
    (text.trim() != "?").then(|| names.map(str::to_owned).collect())
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

impl_debug!([S: State] ConfiguredNode<S>, |node| info = node.info, policies = node.policies);
