//! The rules about keys under which threads remember calls of a node.

use super::super::renames::Renames;
use super::super::shapes::{difference, parse};
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

/// A tool runs without the approval of a person, or is gone.
pub(super) fn approval_gone(before: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let mut found = Vec::new();
    for (node, today) in nodes(before, renames) {
        let approvals = of_kind(node, KeyKind::Approval);
        for key in approvals.filter(|key| named(today, key).is_none()) {
            found.push(Broken::key_gone(&today.name, key.kind, &key.key, &key.ty));
        }
    }
    found
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

/// How a type differs from what it was.
enum Difference {
    Nothing,
    /// It is another type.
    Type,
    /// A part of it no longer takes what it took.
    Part(String),
}

/// Compares the types of a key: by their shapes, if both are known, or else by their names.
fn compare(key: &KeyInfo, now: &KeyInfo) -> Difference {
    if key.key.is_empty() {
        return Difference::Nothing;
    }
    let shape = |key: &KeyInfo| {
        parse(if key.shape.is_empty() {
            &key.ty
        } else {
            &key.shape
        })
    };
    let is_renamed = now.ty != key.ty && !now.ty.is_empty() && !key.ty.is_empty();
    match (shape(key), shape(now)) {
        (Some(stored), Some(today)) => match difference(&stored, &today) {
            None => Difference::Nothing,
            Some(change) if change.is_whole() && is_renamed => Difference::Type,
            Some(change) => Difference::Part(change.to_string()),
        },
        _ if is_renamed => Difference::Type,
        _ => Difference::Nothing,
    }
}

fn is_retyped(key: &KeyInfo, now: &KeyInfo) -> bool {
    matches!(compare(key, now), Difference::Type)
}

/// The type of an answer or a result no longer takes what its older form took.
pub(super) fn shape_changed(before: &Topology, renames: Renames<'_>) -> Vec<Broken> {
    let mut found = Vec::new();
    for (node, today) in nodes(before, renames) {
        for key in &node.keys {
            if let Some(now) = named(today, key)
                && let Difference::Part(change) = compare(key, now)
            {
                found.push(Broken::ShapeChanged {
                    node: today.name.clone(),
                    kind: key.kind,
                    key: key.key.clone(),
                    ty: key.ty.clone(),
                    change,
                });
            }
        }
    }
    found
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

/// Returns the call of the same kind and key. One whose key is made at run time may be any of that kind.
fn named<'a>(node: &'a NodeInfo, wanted: &KeyInfo) -> Option<&'a KeyInfo> {
    let mut keys = of_kind(node, wanted.kind);
    keys.find(|key| key.key == wanted.key || wanted.key.is_empty())
}
