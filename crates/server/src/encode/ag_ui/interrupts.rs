//! Interrupts in AG-UI's form.

use serde_json::{Value, json};

use crate::stream::OpenInterrupt;
use crate::wire::ag_ui::breakpoint_id;
use crate::wire::question::question;
use crate::wire::sleep::asks;

/// Returns what a paused run waits for: answers to its interrupts, or that it may pass its breakpoint if it has none.
pub(super) fn waits_for(open: &[OpenInterrupt], run: &str) -> Vec<Value> {
    if open.is_empty() {
        return vec![json!({
            "id": breakpoint_id(run), "reason": "breakpoint",
            "message": "The run has paused at a breakpoint. Does it go on?",
        })];
    }
    let asking = open.iter().filter(|open| asks(&open.value));
    asking.map(interrupt_json).collect()
}

fn interrupt_json(open: &OpenInterrupt) -> Value {
    let value = &open.value;
    let is_approval = value["type"] == "tool_approval";
    let mut out = json!({
        "id": open.id, "metadata": {"value": value},
        "reason": if is_approval { "tool_call" } else { "input_required" },
    });
    if let Some(message) = question(value) {
        out["message"] = json!(message);
    }
    if is_approval {
        out["toolCallId"] = value["call"]["id"].clone();
    }
    if open.response_schema.is_object() {
        out["responseSchema"] = open.response_schema.clone();
    }
    out
}
