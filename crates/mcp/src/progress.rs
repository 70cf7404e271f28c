//! The custom event that reports the progress of a call.

use rmcp::model::ProgressNotificationParam;
use serde_json::{Value, json};

/// The `type` of the event.
const TYPE: &str = "mcp_progress";

/// Returns the event.
pub(crate) fn event(tool: &str, call: &str, progress: &ProgressNotificationParam) -> Value {
    json!({
        "type": TYPE,
        "tool": tool,
        "call": call,
        "progress": progress.progress,
        "total": progress.total,
        "message": progress.message,
    })
}

/// Returns the JSON Schema of the events of a tool.
pub(crate) fn schema(tool: &str) -> Value {
    json!({
        "description": format!("The custom event that reports the progress of a call of `{tool}`."),
        "type": "object",
        "properties": {
            "type": {"const": TYPE},
            "tool": {"const": tool},
            "call": {"type": "string"},
            "progress": {"type": "number"},
            "total": {"type": ["number", "null"]},
            "message": {"type": ["string", "null"]},
        },
        "required": ["type", "tool", "call", "progress", "total", "message"],
    })
}
