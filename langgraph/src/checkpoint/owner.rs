//! Compares what a log belongs to with a graph.

use super::{CheckpointError, Owner};
use crate::state::State;

/// Returns what the threads of a graph belong to.
pub(crate) fn owner_of<S: State>(graph: &str, initial: &S) -> Owner {
    let fields = initial.fields().iter();
    let fields = fields.filter(|field| !field.is_untracked());
    Owner {
        graph: graph.to_owned(),
        state: super::StateType {
            name: S::name(),
            version: S::version().number,
            fields: fields
                .map(|field| (field.name().to_owned(), field.type_text().to_owned()))
                .collect(),
        },
    }
}

/// Fails if values of `theirs`, to which `thread` belongs, are not older or newer values of `ours`, the
/// type of `initial`.
pub(crate) fn check_owner<S: State>(
    thread: &str,
    theirs: &Owner,
    ours: &Owner,
    initial: &S,
) -> Result<(), CheckpointError> {
    let (stored, now) = (&theirs.state, &ours.state);
    if stored == now {
        return Ok(());
    }
    let refused = |remedy: String| CheckpointError::WrongType {
        thread: thread.to_owned(),
        stored: stored.to_string(),
        state: now.to_string(),
        graph: (theirs.graph != ours.graph).then(|| theirs.graph.clone()),
        remedy,
    };
    if stored.name != now.name && !S::former_names().contains(&&*stored.name) {
        return Err(refused(format!(
            "if `{}` was renamed, put `#[state(alias = \"{}\")]` on it",
            now.name, stored.name
        )));
    }
    // Another version says that fields have changed.
    let known = stored.version != now.version
        || stored.fields.is_empty()
        || now.fields.is_empty()
        || stored.fields.iter().any(|(name, ty)| {
            let mut fields = initial.fields().iter();
            fields.any(|field| field.is_called(name) && field.type_text() == ty)
        });
    if known {
        return Ok(());
    }
    Err(refused(
        "if it is the same type, give it the next `#[state(version = …)]`".to_owned(),
    ))
}
