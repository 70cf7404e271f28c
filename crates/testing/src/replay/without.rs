//! Values without what a comparison leaves out.

use serde_json::Value;

/// Removes the ids of messages, which are random. Those of removed messages stay.
pub(super) fn without_ids(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(without_ids).collect(),
        Value::Object(mut object) => {
            let role = object.get("role").and_then(Value::as_str);
            if role.is_some_and(|role| !role.starts_with("remove")) {
                object.remove("id");
            }
            object
                .into_iter()
                .map(|(key, value)| (key, without_ids(value)))
                .collect()
        }
        other => other,
    }
}

/// Removes the ids of tool calls, which a model chooses anew.
pub(super) fn without_call_ids(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(without_call_ids).collect(),
        Value::Object(mut object) => {
            if object.contains_key("arguments") && object.contains_key("name") {
                object.remove("id");
            }
            let fields = object.into_iter();
            let fields = fields.map(|(key, value)| (key, without_call_ids(value)));
            fields.collect()
        }
        other => other,
    }
}

/// Removes the content of the messages of these roles.
pub(super) fn without_content(value: Value, roles: &[&str]) -> Value {
    match value {
        Value::Array(values) => {
            let values = values.into_iter();
            values.map(|value| without_content(value, roles)).collect()
        }
        Value::Object(mut object) => {
            let role = object.get("role").and_then(Value::as_str);
            if role.is_some_and(|role| roles.contains(&role)) {
                object.remove("content");
            }
            let fields = object.into_iter();
            let fields = fields.map(|(key, value)| (key, without_content(value, roles)));
            fields.collect()
        }
        other => other,
    }
}
