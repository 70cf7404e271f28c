//! States and updates as JSON.

use langgraph::State;
use langgraph::error::AgentError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns true if the state is a single value: its updates are lists of at most one.
fn is_plain<S: State<Update: Serialize>>() -> bool {
    serde_json::to_value(S::Update::default()).is_ok_and(|update| update.is_array())
}

/// Returns a state as JSON.
pub(crate) fn value_of<S: State<Update: Serialize>>(state: S) -> Value {
    match serde_json::to_value(S::Update::from(state)).unwrap_or_default() {
        Value::Array(mut one) if is_plain::<S>() => one.pop().unwrap_or_default(),
        value => value,
    }
}

/// Reads an update.
pub(crate) fn update_of<S>(given: Value) -> Result<S::Update, AgentError>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    let given = match given {
        Value::Null => return Ok(S::Update::default()),
        given if is_plain::<S>() => json!([given]),
        given => given,
    };
    serde_json::from_value(given).map_err(|error| {
        AgentError::InvalidInput(format!("the input does not fit the state: {error}"))
    })
}
