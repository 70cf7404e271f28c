//! The description of a state in a topology.

use super::{FieldInfo, StateInfo, Topology};
use crate::state::{Field, State};

/// Adds what is known of a state before a run.
pub(super) fn describe_state<S: State>(initial: &S, topology: &mut Topology) {
    let version = S::version();
    let mut state = StateInfo::new(S::name());
    state.aliases = owned(S::former_names());
    state.version = version.number;
    state.migrates = version.migrate.is_some();
    topology.state = Some(state);
    let codec = S::codec();
    topology.fields.extend(initial.fields().iter().map(|field| {
        let info = described(field);
        match codec {
            Some(codec) if !info.untracked => codec.shaped(info),
            _ => info,
        }
    }));
}

fn described(field: &Field) -> FieldInfo {
    let mut info = FieldInfo::new(field.name(), field.is_reduced()).typed(field.type_text());
    field.reducer().clone_into(&mut info.reducer);
    info.aliases = owned(field.former_names());
    info.untracked = field.is_untracked();
    info
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
