//! A checkpoint, as events show it.

use serde_json::{Value, json};

/// Returns what an event shows of a checkpoint, which is in the form of a thread's state: also the configuration of a
/// run that goes on from it, and that of the one before it, and of the graph in a task where it is.
pub(super) fn as_event(state: &Value) -> Value {
    let mut shown = state.clone();
    let Some(fields) = shown.as_object_mut() else {
        return shown;
    };
    for (name, checkpoint) in [
        ("config", "checkpoint"),
        ("parent_config", "parent_checkpoint"),
    ] {
        let config = config(&state[checkpoint], &state["metadata"]);
        fields.insert(name.to_owned(), config);
    }
    let tasks = fields.get_mut("tasks").and_then(Value::as_array_mut);
    for task in tasks.into_iter().flatten().filter_map(Value::as_object_mut) {
        let inside = task.get("checkpoint").filter(|inside| inside.is_object());
        if let Some(inside) = inside.filter(|_| task.get("state").is_none_or(Value::is_null)) {
            let config = json!({"configurable": inside});
            task.insert("state".to_owned(), config);
        }
    }
    shown
}

/// Returns the configuration that leads to a checkpoint, with what its run is; null without one.
fn config(checkpoint: &Value, run: &Value) -> Value {
    if checkpoint.is_null() {
        return Value::Null;
    }
    let mut configurable = checkpoint.clone();
    if let Some(fields) = configurable.as_object_mut() {
        for name in ["run_id", "assistant_id", "graph_id"] {
            let value = run.get(name).cloned();
            fields.extend(value.map(|value| (name.to_owned(), value)));
        }
    }
    json!({"configurable": configurable})
}
