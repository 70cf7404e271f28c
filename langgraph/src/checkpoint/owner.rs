//! What the threads of a graph belong to.

use super::{Owner, StateType};
use crate::state::State;

/// Returns what the threads of a graph belong to.
pub(crate) fn owner_of<S: State>(graph: &str, initial: &S) -> Owner {
    let fields = initial.fields().iter();
    let fields = fields.filter(|field| !field.is_untracked());
    Owner {
        graph: graph.to_owned(),
        state: StateType {
            name: S::name(),
            version: S::version().number,
            fields: fields
                .map(|field| (field.name().to_owned(), field.type_text().to_owned()))
                .collect(),
        },
    }
}
