//! States in the form of the protocol: messages with content blocks.

use serde_json::{Map, Value, json};

use crate::rows::merge;

/// Returns a state with its messages in the form of the protocol.
pub(super) fn values_out(mut values: Value) -> Value {
    if let Value::Object(fields) = &mut values {
        fields.remove("__interrupt__");
        for field in fields.values_mut() {
            if let Value::Array(items) = field {
                items.iter_mut().for_each(message_out);
            }
        }
    }
    values
}

fn message_out(value: &mut Value) {
    let Value::Object(fields) = &*value else {
        return;
    };
    let kind = fields.get("type").and_then(Value::as_str);
    let kind = match kind {
        Some("human" | "ai" | "tool" | "system") if fields.contains_key("content") => kind,
        _ => return,
    };
    let get = |name: &str| fields.get(name).cloned().unwrap_or(Value::Null);
    let mut out = Map::new();
    out.insert("type".to_owned(), json!(kind));
    let content = match (kind, get("content")) {
        (Some("ai"), content) => json!(blocks(&content, &get("tool_calls"))),
        (_, content) => content,
    };
    out.insert("content".to_owned(), content);
    out.insert("id".to_owned(), get("id"));
    match kind {
        Some("ai") => {
            out.insert(
                "response_metadata".to_owned(),
                json!({"output_version": "v1"}),
            );
            if get("tool_calls")
                .as_array()
                .is_some_and(|calls| !calls.is_empty())
            {
                out.insert("tool_calls".to_owned(), get("tool_calls"));
            }
            if !get("usage_metadata").is_null() {
                out.insert("usage_metadata".to_owned(), get("usage_metadata"));
            }
        }
        Some("tool") => {
            for name in ["name", "tool_call_id", "status", "artifact"] {
                out.insert(name.to_owned(), get(name));
            }
        }
        _ if !get("name").is_null() => {
            out.insert("name".to_owned(), get("name"));
        }
        _ => {}
    }
    for name in ["additional_kwargs", "response_metadata"] {
        if let Value::Object(further) = get(name)
            && !further.is_empty()
        {
            let known = out.entry(name).or_insert_with(|| json!({}));
            merge(known, &Value::Object(further));
        }
    }
    *value = Value::Object(out);
}

/// Returns the content of an assistant's message as blocks, its tool calls behind the text.
pub(super) fn blocks(content: &Value, calls: &Value) -> Vec<Value> {
    let mut blocks = match content {
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![json!({"type": "text", "text": text, "index": 0})],
        Value::Array(parts) => parts.clone(),
        _ => Vec::new(),
    };
    for call in calls.as_array().into_iter().flatten() {
        blocks.push(json!({
            "type": "tool_call", "id": call["id"], "name": call["name"], "args": call["args"],
        }));
    }
    blocks
}
