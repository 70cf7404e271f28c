//! Messages in the form of OpenTelemetry's conventions: a role and its parts.

use langgraph::message::{ContentPart, FinishReason, Media, Message};
use serde_json::{Value, json};

/// Returns the instructions, if there are any, and the other messages.
pub(super) fn input_messages(messages: &[Message]) -> (Option<Value>, Value) {
    let (system, chat): (Vec<_>, Vec<_>) = messages.iter().partition(|m| m.is_system());
    let instructions: Vec<_> = system.iter().flat_map(|m| parts(m)).collect();
    let chat: Vec<_> = chat.into_iter().map(message).collect();
    let system = (!instructions.is_empty()).then(|| json!(instructions));
    (system, json!(chat))
}

/// Returns the message of a model.
pub(super) fn output_message(answer: &Message, reason: Option<&FinishReason>) -> Value {
    let mut answer = message(answer);
    answer["finish_reason"] = json!(reason.map_or("stop", |reason| finish_reason(reason)));
    answer
}

/// Returns the word for why a message ends.
pub(super) fn finish_reason(reason: &FinishReason) -> &str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Other(reason) => reason,
        _ => "error",
    }
}

fn message(of: &Message) -> Value {
    json!({"role": of.role(), "parts": parts(of)})
}

fn parts(of: &Message) -> Vec<Value> {
    if let Some(result) = of.tool_result() {
        return vec![json!({
            "type": "tool_call_response",
            "id": result.call_id,
            "response": of.text(),
        })];
    }
    let mut parts: Vec<_> = match of.parts() {
        [] if of.text().is_empty() => Vec::new(),
        [] => vec![json!({"type": "text", "content": of.text()})],
        parts => parts.iter().map(part).collect(),
    };
    parts.extend(of.tool_calls().iter().map(|call| {
        json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
    }));
    parts
}

fn part(of: &ContentPart) -> Value {
    match of {
        ContentPart::Text { text, .. } => json!({"type": "text", "content": text}),
        ContentPart::Reasoning { reasoning, .. } => {
            json!({"type": "reasoning", "content": reasoning})
        }
        ContentPart::Image(of) => media("image", of),
        ContentPart::Audio(of) => media("audio", of),
        ContentPart::Video(of) => media("video", of),
        ContentPart::File(of) => media("file", of),
        _ => json!({"type": "unknown"}),
    }
}

fn media(modality: &str, of: &Media) -> Value {
    match of {
        Media::Url { url, mime_type, .. } => {
            json!({"type": "uri", "modality": modality, "mime_type": mime_type, "uri": url})
        }
        Media::Base64 {
            base64, mime_type, ..
        } => {
            json!({"type": "blob", "modality": modality, "mime_type": mime_type, "content": base64})
        }
        _ => json!({"type": "unknown"}),
    }
}
