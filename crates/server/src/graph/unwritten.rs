//! Fields that were not written yet: LangGraph's clients expect that these are absent.

use std::sync::OnceLock;

use langgraph::State;
use langgraph::state::FieldSet;
use serde::Serialize;
use serde_json::{Map, Value};

/// Leaves fields out of states that are empty, and have been from the start. A field with a reducer
/// stays: in LangGraph it has a value from the start.
#[derive(Debug, Default)]
pub(crate) struct Unwritten {
    /// The defaults of the fields. They are read from the first state.
    defaults: OnceLock<Map<String, Value>>,
}

impl Unwritten {
    /// Removes the fields of `state` that were not written from `value`, its form as JSON.
    pub(super) fn remove<S>(&self, state: &S, value: &mut Value)
    where
        S: State<Update: Serialize>,
    {
        let Value::Object(values) = value else { return };
        for field in state.fields() {
            let name = field.name();
            if values.get(name).is_some_and(is_empty)
                && (!field.is_reduced() || values.get(name).is_some_and(Value::is_null))
                && self.defaults(state).get(name) == values.get(name)
            {
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
