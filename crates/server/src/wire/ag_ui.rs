//! Messages of AG-UI, both ways.

use serde_json::{Value, json};

/// Returns a message in `LangChain`'s form. What is only for the client's screen is left out.
pub(crate) fn message_in(message: &Value) -> Option<Value> {
    let content = |value: &Value| match value {
        Value::Array(parts) => Value::Array(parts.iter().map(part_in).collect()),
        Value::Null => json!(""),
        value => value.clone(),
    };
    let id = &message["id"];
    Some(match message["role"].as_str()? {
        "user" => json!({"type": "human", "id": id, "content": content(&message["content"])}),
        "system" | "developer" => {
            json!({"type": "system", "id": id, "content": message["content"]})
        }
        "tool" => json!({
            "type": "tool", "id": id, "content": content(&message["content"]),
            "tool_call_id": message["toolCallId"],
            "status": if message["error"].is_null() { "success" } else { "error" },
        }),
        "assistant" => json!({
            "role": "assistant", "id": id, "content": content(&message["content"]),
            "tool_calls": message["toolCalls"],
        }),
        _ => return None,
    })
}

fn part_in(part: &Value) -> Value {
    let source = &part["source"];
    match (part["type"].as_str(), source["type"].as_str()) {
        (Some("image"), Some("url")) => {
            json!({"type": "image_url", "image_url": {"url": source["value"]}})
        }
        (Some("image"), Some("data")) => {
            let kind = source["mimeType"].as_str().unwrap_or("image/png");
            let data = source["value"].as_str().unwrap_or_default();
            json!({"type": "image_url", "image_url": {"url": format!("data:{kind};base64,{data}")}})
        }
        _ => part.clone(),
    }
}

/// Returns the text of a content.
pub(crate) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.as_str().or_else(|| part["text"].as_str()))
            .collect(),
        _ => String::new(),
    }
}

/// Returns a message of a state in AG-UI's form.
pub(crate) fn message_out(message: &Value) -> Option<Value> {
    let id = message["id"].as_str()?;
    let text = text(&message["content"]);
    Some(match message["type"].as_str()? {
        "human" => json!({"id": id, "role": "user", "content": text}),
        "system" => json!({"id": id, "role": "system", "content": text}),
        "tool" => {
            let call = message["tool_call_id"].as_str()?;
            let mut out = json!({"id": id, "role": "tool", "content": text, "toolCallId": call});
            if message["status"] == "error" {
                out["error"] = json!(text);
            }
            out
        }
        "ai" => {
            let mut out = json!({"id": id, "role": "assistant"});
            if !text.is_empty() {
                out["content"] = json!(text);
            }
            let calls: Vec<Value> = message["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| {
                    let arguments = call["args"].to_string();
                    json!({
                        "id": call["id"], "type": "function",
                        "function": {"name": call["name"], "arguments": arguments},
                    })
                })
                .collect();
            if !calls.is_empty() {
                out["toolCalls"] = Value::Array(calls);
            }
            out
        }
        _ => return None,
    })
}
