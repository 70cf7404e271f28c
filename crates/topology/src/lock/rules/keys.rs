//! The rules about keys under which threads remember calls of a node.

use super::super::renames::Renames;
use super::Broken;
use crate::{KeyInfo, KeyKind, NodeInfo, Topology};

/// An interrupt is gone, or takes an answer of another type.
pub(super) fn interrupt_changed(before: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    changed(before, renames, KeyKind::Interrupt, |node, key, now| {
        Broken::InterruptChanged {
            node: node.name.clone(),
            key: key.key.clone(),
            stored: key.ty.clone(),
            now: Some(now.ty.clone()),
        }
    })
}

/// A function no longer calls a task, or the task returns another type.
pub(super) fn task_changed(before: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    changed(before, renames, KeyKind::Task, |node, key, now| {
        Broken::TaskChanged {
            node: node.name.clone(),
            task: key.key.clone(),
            stored: key.ty.clone(),
            now: Some(now.ty.clone()),
        }
    })
}

/// Finds the keys that are gone, and those whose type is another one, for which it calls `retyped`.
fn changed(
    before: &Topology,
    renames: Renames<'_>,
    kind: KeyKind,
    retyped: impl Fn(&NodeInfo, &KeyInfo, &KeyInfo) -> Broken,
) -> Vec<Broken> {
    let mut found = Vec::new();
    for (node, today) in nodes(before, renames) {
        for key in of_kind(node, kind) {
            match named(today, key) {
                None => found.push(Broken::key_gone(&today.name, kind, &key.key, &key.ty)),
                Some(now) if is_retyped(key, now) => found.push(retyped(today, key, now)),
                Some(_) => {}
            }
        }
    }
    found
}

fn is_retyped(key: &KeyInfo, now: &KeyInfo) -> bool {
    now.ty != key.ty && !now.ty.is_empty() && !key.ty.is_empty()
}

/// The result of work that is done once has another type, so that a stored one cannot be read.
pub(super) fn once_retyped(before: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let mut found = Vec::new();
    for (node, today) in nodes(before, renames) {
        for key in of_kind(node, KeyKind::Once) {
            if let Some(now) = named(today, key).filter(|now| is_retyped(key, now)) {
                found.push(Broken::OnceRetyped {
                    node: today.name.clone(),
                    key: key.key.clone(),
                    stored: key.ty.clone(),
                    now: now.ty.clone(),
                });
            }
        }
    }
    found
}

/// Work that is done once has another key: the old one is gone, and a new one is there.
pub(super) fn once_renamed(before: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let mut found = Vec::new();
    for (node, today) in nodes(before, renames) {
        let mut now = of_kind(today, KeyKind::Once);
        if !now.any(|key| named(node, key).is_none()) {
            continue;
        }
        for key in of_kind(node, KeyKind::Once).filter(|key| named(today, key).is_none()) {
            found.push(Broken::key_gone(&today.name, key.kind, &key.key, &key.ty));
        }
    }
    found
}

/// Returns the nodes that are left, as they were and as they are.
fn nodes<'a>(
    before: &'a Topology,
    renames: Renames<'a>,
) -> impl Iterator<Item = (&'a NodeInfo, &'a NodeInfo)> {
    let nodes = before.nodes.iter();
    nodes.filter_map(move |node| Some((node, renames.node(&node.name)?)))
}

fn of_kind(node: &NodeInfo, kind: KeyKind) -> impl Iterator<Item = &KeyInfo> {
    node.keys.iter().filter(move |key| key.kind == kind)
}

/// Returns the call of the same kind and key.
fn named<'a>(node: &'a NodeInfo, wanted: &KeyInfo) -> Option<&'a KeyInfo> {
    let mut keys = of_kind(node, wanted.kind);
    keys.find(|key| key.key == wanted.key)
}
