//! The rules about nodes.

use super::super::renames::Renames;
use super::Broken;
use crate::similar::did_you_mean;
use crate::{NodeInfo, NodeKind, NodeName, Topology};

/// A node at which a thread may wait is gone, or one of its former names.
pub(super) fn node_gone(before: &Topology, now: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let is_new = |node: &&NodeInfo| {
        let known = |name: &str| before.node(name).is_some();
        !known(&node.name) && !node.aliases.iter().any(|alias| known(alias))
    };
    let new: Vec<&str> = now
        .nodes
        .iter()
        .filter(is_new)
        .map(|node| &*node.name)
        .collect();
    let mut found = Vec::new();
    let mut gone = |name: &str, today: Option<&NodeInfo>| {
        let did_you_mean = match (today, &*new) {
            (Some(node), _) => Some(&*node.name),
            (None, [only]) => Some(*only),
            (None, new) => did_you_mean(name, new.iter().copied()),
        };
        found.push(Broken::NodeGone {
            node: name.into(),
            did_you_mean: did_you_mean.map(NodeName::from),
        });
    };
    for node in &before.nodes {
        let today = renames.node(&node.name);
        if today.is_none() {
            gone(&node.name, None);
            continue;
        }
        let former = node.aliases.iter();
        for alias in former.filter(|alias| renames.node(alias).is_none()) {
            gone(alias, today);
        }
    }
    found
}

/// A node takes another item, none any more, or one now.
pub(super) fn item_changed(before: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let item = |node: &NodeInfo| {
        let is_worker = matches!(node.kind, NodeKind::Worker);
        is_worker.then(|| node.item.clone())
    };
    let mut found = Vec::new();
    for node in &before.nodes {
        let Some(today) = renames.node(&node.name) else {
            continue;
        };
        let (stored, now) = (item(node), item(today));
        let differs = match (&stored, &now) {
            (Some(stored), Some(now)) => stored != now && !stored.is_empty() && !now.is_empty(),
            (stored, now) => stored.is_some() != now.is_some(),
        };
        if differs && !is_entered(node) {
            found.push(Broken::ItemChanged {
                node: today.name.clone(),
                stored,
                now,
            });
        }
    }
    found
}

/// Returns true for a node that runs something with a name of its own.
fn is_entered(node: &NodeInfo) -> bool {
    matches!(node.kind, NodeKind::Subgraph(_) | NodeKind::Remote { .. })
}

/// A node runs another subgraph or agent, or none any more.
pub(super) fn subgraph_exchanged(before: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let name = |node: &NodeInfo| match &node.kind {
        NodeKind::Subgraph(inner) => Some(("graph", inner.name.clone())),
        NodeKind::Remote { agent } => Some(("agent", agent.clone())),
        NodeKind::Function | NodeKind::Worker => None,
    };
    let mut found = Vec::new();
    for node in &before.nodes {
        if let Some(today) = renames.node(&node.name)
            && let Some(stored) = name(node)
            && name(today).as_ref() != Some(&stored)
        {
            found.push(Broken::SubgraphExchanged {
                node: today.name.clone(),
                stored: stored.1,
            });
        }
    }
    found
}
