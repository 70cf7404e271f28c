//! Messages of AG-UI, both ways.

use langgraph::message::{ContentPart, Media};
use serde::Deserialize;
use serde_json::{Value, json};

/// Returns the id of the interrupt that stands for the breakpoint at which a run has paused its thread.
pub(crate) fn breakpoint_id(run: &str) -> String {
    format!("breakpoint:{run}")
}

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
    let kind = match part["type"].as_str() {
        Some("document") => "file",
        Some(kind @ ("image" | "audio" | "video")) => kind,
        _ => return part.clone(),
    };
    let content = match source["type"].as_str() {
        Some("url") => "url",
        Some("data") => "base64",
        _ => return part.clone(),
    };
    let mut block = json!({"type": kind, content: source["value"]});
    if source["mimeType"].is_string() {
        block["mime_type"] = source["mimeType"].clone();
    }
    block
}

fn part_out(part: &Value) -> Option<Value> {
    let (kind, media) = match ContentPart::deserialize(part).ok()? {
        ContentPart::Text { text, .. } => return Some(json!({"type": "text", "text": text})),
        ContentPart::Image(media) => ("image", media),
        ContentPart::Audio(media) => ("audio", media),
        ContentPart::Video(media) => ("video", media),
        ContentPart::File(media) => ("document", media),
        _ => return None,
    };
    let source = match media {
        Media::Url { url, mime_type, .. } => {
            let mut source = json!({"type": "url", "value": url});
            if let Some(mime_type) = mime_type {
                source["mimeType"] = json!(mime_type);
            }
            source
        }
        Media::Base64 {
            base64, mime_type, ..
        } => json!({"type": "data", "value": base64, "mimeType": mime_type}),
        _ => return None,
    };
    Some(json!({"type": kind, "source": source}))
}

/// Returns the content of a user's message.
fn content_out(content: &Value) -> Value {
    match content {
        Value::Array(parts) => parts.iter().filter_map(part_out).collect(),
        content => json!(text(content)),
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
        "human" => json!({
            "id": id, "role": "user", "content": content_out(&message["content"]),
        }),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_and_documents_come_back() {
        let content = json!([
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "data", "value": "AA", "mimeType": "image/png"}},
            {"type": "document", "source": {"type": "url", "value": "u"}},
        ]);
        let sent = json!({"id": "1", "role": "user", "content": content});
        let mut message = message_in(&sent).unwrap();
        assert_eq!(message["content"][1]["base64"], "AA");
        message["id"] = json!("1");
        assert_eq!(message_out(&message).unwrap(), sent);
    }
}
