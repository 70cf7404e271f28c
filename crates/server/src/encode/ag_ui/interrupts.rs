//! Interrupts in AG-UI's form.

use serde_json::{Value, json};

use crate::stream::OpenInterrupt;
use crate::wire::question::question;

pub(super) fn interrupt_json(open: &OpenInterrupt) -> Value {
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
