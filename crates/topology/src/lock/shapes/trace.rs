//! Finds the shape of a type, by what its `Deserialize` asks for.

use serde::de::DeserializeOwned;

use super::draft::{Draft, Presence};
use super::one_field::OneField;
use super::pass::Pass;
use super::tracer::Tracer;
use crate::lock::shape::Shape;

/// The values that are offered to a type before it is given up.
const LIMIT: usize = 1024;

/// Finds the shape of a type. `None` if the type is recursive, or reads whatever there is, as an untagged
/// enum does, or refuses every text that is offered.
///
/// The type is read from values that show its parts one after the other: each variant once, and each
/// struct once without each of its fields.
pub(crate) fn trace<T: DeserializeOwned>() -> Option<Shape> {
    trace_by(&mut |draft, pass| T::deserialize(Tracer::new(draft, pass)).is_ok())
}

/// Finds the shape of a field, of which `read` reads an update.
pub(crate) fn trace_field(name: &str, read: &mut dyn FnMut(OneField<'_>) -> bool) -> Option<Shape> {
    trace_by(&mut |draft, pass| read(OneField::new(name, draft, pass)))
}

fn trace_by(read: &mut dyn FnMut(&mut Draft, &Pass) -> bool) -> Option<Shape> {
    let mut draft = Draft::default();
    for _ in 0..LIMIT {
        let pass = Pass {
            may_probe: !draft.has_unseen(),
            ..Pass::default()
        };
        let is_read = read(&mut draft, &pass);
        if pass.again.get() {
            continue;
        }
        match pass.probe.take() {
            Some(field) if is_read => field.set(Presence::Optional),
            Some(field) => field.set(Presence::Required),
            None if !is_read => return None,
            None if draft.has_unseen() => {}
            None if draft.has_unprobed() && !pass.may_probe => {}
            None => return draft.shape(),
        }
    }
    None
}
