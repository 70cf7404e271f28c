//! The rules about the state and its fields.

use super::super::shapes::{difference, parse};
use super::Broken;
use crate::{FieldInfo, Topology};

/// The state has another name.
pub(super) fn state_renamed(before: &Topology, now: &Topology) -> Vec<Broken> {
    let (Some(stored), Some(today)) = (&before.state, &now.state) else {
        return Vec::new();
    };
    let names = std::iter::once(&stored.name).chain(&stored.aliases);
    let gone = names.filter(|name| **name != today.name && !today.aliases.contains(name));
    gone.map(|name| Broken::StateRenamed {
        stored: name.clone(),
        now: today.name.clone(),
    })
    .collect()
}

/// The version of the state is lower than that of the stored values.
pub(super) fn version_lowered(before: &Topology, now: &Topology) -> Vec<Broken> {
    let (stored, now) = (version(before), version(now));
    if now < stored {
        vec![Broken::VersionLowered { stored, now }]
    } else {
        Vec::new()
    }
}

/// A stored field is gone, or one of its former names, and no migration converts it.
pub(super) fn field_gone(before: &Topology, now: &Topology) -> Vec<Broken> {
    if is_migrated(before, now) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for field in stored(before) {
        let names = std::iter::once(&field.name).chain(&field.aliases);
        for name in names.filter(|name| today(now, name).is_none()) {
            found.push(Broken::FieldGone {
                field: name.clone(),
                version: version(now) + 1,
            });
        }
    }
    found
}

/// A field has another type, and no migration converts it.
pub(super) fn field_retyped(before: &Topology, now: &Topology) -> Vec<Broken> {
    let pairs = kept(before, now);
    let retyped = pairs.filter(|(field, today)| {
        field.ty != today.ty && !field.ty.is_empty() && !today.ty.is_empty()
    });
    retyped
        .map(|(field, today)| Broken::FieldRetyped {
            field: today.name.clone(),
            stored: field.ty.clone(),
            now: today.ty.clone(),
            version: version(now) + 1,
        })
        .collect()
}

/// The type of a field no longer takes what its older form took, and no migration converts it.
pub(super) fn field_reshaped(before: &Topology, now: &Topology) -> Vec<Broken> {
    let pairs = kept(before, now).filter(|(field, today)| field.ty == today.ty);
    let changes = pairs.filter_map(|(field, today)| {
        let change = difference(&parse(&field.shape)?, &parse(&today.shape)?)?;
        Some(Broken::FieldReshaped {
            field: today.name.clone(),
            ty: today.ty.clone(),
            change: change.to_string(),
            version: version(now) + 1,
        })
    });
    changes.collect()
}

/// A field has another reducer, and no migration converts it.
pub(super) fn reducer_changed(before: &Topology, now: &Topology) -> Vec<Broken> {
    let pairs = kept(before, now);
    let changed = pairs.filter(|(field, today)| {
        let both = field.reduced && today.reduced;
        let unknown = both && (field.reducer.is_empty() || today.reducer.is_empty());
        (field.reduced, &field.reducer) != (today.reduced, &today.reducer) && !unknown
    });
    changed
        .map(|(field, today)| Broken::ReducerChanged {
            field: today.name.clone(),
            stored: merged(field),
            now: merged(today),
            version: version(now) + 1,
        })
        .collect()
}

fn version(graph: &Topology) -> u32 {
    graph.state.as_ref().map_or(0, |state| state.version)
}

/// Returns true if a function converts the values of the version that is locked.
fn is_migrated(before: &Topology, now: &Topology) -> bool {
    let migrates = now.state.as_ref().is_some_and(|state| state.migrates);
    migrates && version(now) > version(before)
}

fn stored(graph: &Topology) -> impl Iterator<Item = &FieldInfo> {
    graph.fields.iter().filter(|field| !field.untracked)
}

/// Returns the field that reads what is stored under a name.
fn today<'a>(now: &'a Topology, name: &str) -> Option<&'a FieldInfo> {
    stored(now).find(|field| field.name == name || field.aliases.iter().any(|alias| alias == name))
}

/// Returns the fields that are left, as they were and as they are. None, if they are migrated.
fn kept<'a>(
    before: &'a Topology,
    now: &'a Topology,
) -> impl Iterator<Item = (&'a FieldInfo, &'a FieldInfo)> {
    let fields = (!is_migrated(before, now)).then(|| stored(before));
    let fields = fields.into_iter().flatten();
    fields.filter_map(|field| Some((field, today(now, &field.name)?)))
}

/// Returns the name of a reducer for a message.
fn merged(field: &FieldInfo) -> String {
    match &*field.reducer {
        "" if field.reduced => "a reducer".to_owned(),
        reducer => reducer.to_owned(),
    }
}
