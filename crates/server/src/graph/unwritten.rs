//! Fields that nothing has written yet: LangGraph's clients expect that these are absent.

use std::sync::OnceLock;

use langgraph::State;
use langgraph::state::FieldSet;
use serde::Serialize;
use serde_json::{Map, Value};

/// Leaves fields out of states that nothing has written. A field with a reducer stays: in LangGraph it has
/// a value from the start, unless it is optional.
///
/// Of a state that an older version has stored, or that was sent to a node, it is unknown which fields were
/// written: there, those are left out that are empty and have their defaults.
#[derive(Debug, Default)]
pub(crate) struct Unwritten {
    /// The defaults of the fields. They are read from the first state of which nothing is known.
    defaults: OnceLock<Map<String, Value>>,
}

impl Unwritten {
    /// Removes the fields of `state` that were not `written` from `value`, its form as JSON.
    pub(super) fn remove<S>(&self, state: &S, written: Option<&FieldSet>, value: &mut Value)
    where
        S: State<Update: Serialize>,
    {
        let Value::Object(values) = value else { return };
        for (index, field) in state.fields().iter().enumerate() {
            let name = field.name();
            let Some(value) = values.get(name) else {
                continue;
            };
            let is_written = match written {
                Some(written) => written.contains(index),
                None => !is_empty(value) || self.defaults(state).get(name) != Some(value),
            };
            if !is_written && (!field.is_reduced() || value.is_null()) {
                values.remove(name);
            }
        }
    }

    fn defaults<S>(&self, state: &S) -> &Map<String, Value>
    where
        S: State<Update: Serialize>,
    {
        self.defaults.get_or_init(|| {
            let mut state = state.clone();
            state.reset(&FieldSet::first(state.fields().len()));
            match serde_json::to_value(S::Update::from(state)) {
                Ok(Value::Object(defaults)) => defaults,
                _ => Map::new(),
            }
        })
    }
}

/// Numbers and truth values are never empty: a node may have written them.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
