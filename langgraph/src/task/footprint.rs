//! What several tasks wrote, and whether they conflict.

use super::Writer;
use crate::error::InvalidUpdate;
use crate::graph::NodeName;
use crate::state::FieldSet;

/// The fields that a task wrote.
pub(crate) struct Footprint {
    pub(crate) writer: Writer,
    pub(crate) updated: FieldSet,
    pub(crate) overwritten: FieldSet,
    /// True if it wrote the whole state.
    pub(crate) whole: bool,
}

impl Footprint {
    fn wrote(&self) -> bool {
        self.whole || !self.updated.is_empty() || !self.overwritten.is_empty()
    }
}

/// Returns the overwritten fields. The names of nodes and of fields are asked for in an error only.
///
/// # Errors
///
/// The first conflict, in the order of fields and tasks: if a task writes the whole state beside others, or if
/// several overwrite a field, or update one that has no reducer.
pub(crate) fn overwritten(
    tasks: &[Footprint],
    reduced: &FieldSet,
    name: &dyn Fn(&Footprint) -> NodeName,
    field: &dyn Fn(usize) -> String,
) -> Result<FieldSet, InvalidUpdate> {
    let beside = || tasks.iter().filter(|task| task.writer.conflicts());
    let nodes = |takes_part: &dyn Fn(&Footprint) -> bool| -> Vec<_> {
        let nodes = beside().filter(|task| takes_part(task));
        nodes.map(name).collect()
    };
    if let Some(whole) = beside().find(|task| task.whole) {
        let others = nodes(&|other| !std::ptr::eq(whole, other) && other.wrote());
        if !others.is_empty() {
            let node = name(whole);
            return Err(InvalidUpdate::WholeState { node, others });
        }
    }
    let all = |fields: fn(&Footprint) -> &FieldSet| {
        let (mut all, mut several) = (FieldSet::new(), FieldSet::new());
        for task in beside() {
            several.union_with(&all.intersection(fields(task)));
            all.union_with(fields(task));
        }
        (all, several)
    };
    let (overwritten, clash) = all(|task| &task.overwritten);
    if let Some(index) = clash.iter().next() {
        return Err(InvalidUpdate::Overwrites {
            field: field(index),
            nodes: nodes(&|task| task.overwritten.contains(index)),
        });
    }
    let (_, mut clash) = all(|task| &task.updated);
    clash.remove_all(reduced);
    clash.remove_all(&overwritten);
    match clash.iter().next() {
        Some(index) => Err(InvalidUpdate::Conflict {
            field: field(index),
            nodes: nodes(&|task| task.updated.contains(index)),
        }),
        None => Ok(overwritten),
    }
}
