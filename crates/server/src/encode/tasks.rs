//! Tasks in LangGraph's form.

use serde_json::{Value, json};

use crate::stream::{OpenInterrupt, StreamEventKind};

/// Returns the start or the end of a task; `None` for other events.
pub(super) fn task_json(kind: &StreamEventKind) -> Option<Value> {
    Some(match kind {
        StreamEventKind::TaskStarted {
            id,
            node,
            input,
            metadata,
        } => {
            let mut task = json!({
                "id": id, "name": node, "input": input, "triggers": [format!("branch:to:{node}")],
            });
            if !metadata.is_null() {
                task["metadata"] = metadata.clone();
            }
            task
        }
        StreamEventKind::TaskFinished {
            id,
            node,
            result,
            error,
            interrupts,
            spent,
        } => {
            let error = error.as_ref();
            let error = error.map(|text| json!({"error": "NodeError", "message": text}));
            let interrupts = interrupts.iter().map(OpenInterrupt::json);
            let mut task = json!({
                "id": id, "name": node, "error": error, "result": result,
                "interrupts": interrupts.collect::<Value>(),
            });
            if let Some(spent) = spent {
                task["metadata"] = json!({"usage_metadata": spent.to_wire()});
            }
            task
        }
        _ => return None,
    })
}
