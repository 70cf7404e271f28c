//! A checkpoint, as events show it.

use serde_json::{Value, json};

/// Returns what an event of mode `debug` shows of a checkpoint, which is in the form of a thread's state: also the
/// configuration of a run that goes on from it, and that of the one before it.
pub(super) fn debugged(state: &Value) -> Value {
    let mut shown = state.clone();
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("config".to_owned(), config(&state["checkpoint"]));
        let parent = config(&state["parent_checkpoint"]);
        shown.insert("parent_config".to_owned(), parent);
    }
    shown
}

/// As [`debugged`], for the mode `checkpoints`: a task with a graph inside has the configuration of that one.
pub(super) fn listed(state: &Value) -> Value {
    let mut shown = debugged(state);
    let tasks = shown.get_mut("tasks").and_then(Value::as_array_mut);
    for task in tasks.into_iter().flatten() {
        if task["state"].is_null() {
            task["state"] = config(&task["checkpoint"]);
        }
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
