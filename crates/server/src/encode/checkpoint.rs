//! A checkpoint, as events show it.

use serde_json::{Value, json};

/// Returns what an event shows of a checkpoint, which is in the form of a thread's state: also the configuration of a
/// run that goes on from it, and that of the one before it.
pub(super) fn with_configs(state: &Value) -> Value {
    let mut shown = state.clone();
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("config".to_owned(), config(&state["checkpoint"]));
        let parent = config(&state["parent_checkpoint"]);
        shown.insert("parent_config".to_owned(), parent);
    }
    shown
}

/// Returns the configuration that leads to a checkpoint; null without one.
fn config(checkpoint: &Value) -> Value {
    if checkpoint.is_null() {
        return Value::Null;
    }
    json!({"configurable": checkpoint})
}
