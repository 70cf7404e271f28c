//! Requests for counts of tokens, at providers that count.

use genai::adapter::AdapterKind;
use langgraph::message::{Content, ContentPart, Media, MessageKind};
use langgraph_agent::ChatRequest;
use serde_json::{Value, json};

/// A request that makes a provider count.
pub(crate) struct CountRequest {
    /// What follows the base address.
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
    /// Where the answer has the number.
    pub(crate) field: &'static str,
}

/// Returns the request, or `None` if the provider does not count.
pub(crate) fn request(
    to: AdapterKind,
    model: &str,
    key: String,
    request: &ChatRequest,
) -> Option<CountRequest> {
    match to {
        AdapterKind::Anthropic => Some(CountRequest {
            path: "messages/count_tokens".to_owned(),
            headers: vec![
                ("x-api-key", key),
                ("anthropic-version", "2023-06-01".to_owned()),
            ],
            body: anthropic(model, request),
            field: "input_tokens",
        }),
        AdapterKind::Gemini => Some(CountRequest {
            path: format!("models/{model}:countTokens"),
            headers: vec![("x-goog-api-key", key)],
            body: gemini(model, request),
            field: "totalTokens",
        }),
        _ => None,
    }
}

fn anthropic(model: &str, request: &ChatRequest) -> Value {
    let mut body = json!({"model": model});
    let (system, turns) = turns(request, "assistant", &|part| match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Media { kind, mime, source } => {
            let kind = if kind == "image" { "image" } else { "document" };
            let source = match source {
                Source::Url(url) => json!({"type": "url", "url": url}),
                Source::Base64(data) => {
                    json!({"type": "base64", "media_type": mime, "data": data})
                }
            };
            json!({"type": kind, "source": source})
        }
        Part::Call {
            id,
            name,
            arguments,
        } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
        }
        Part::Result { id, text, .. } => {
            json!({"type": "tool_result", "tool_use_id": id, "content": text})
        }
    });
    let messages = turns.into_iter();
    let messages = messages.map(|(role, content)| json!({"role": role, "content": content}));
    body["messages"] = messages.collect();
    if !system.is_empty() {
        body["system"] = json!(system);
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
        });
        body["tools"] = tools.collect();
    }
    body
}

fn gemini(model: &str, request: &ChatRequest) -> Value {
    let mut whole = json!({"model": format!("models/{model}")});
    let (system, turns) = turns(request, "model", &|part| match part {
        Part::Text(text) => json!({"text": text}),
        Part::Media { mime, source, .. } => match source {
            Source::Url(url) => json!({"fileData": {"mimeType": mime, "fileUri": url}}),
            Source::Base64(data) => json!({"inlineData": {"mimeType": mime, "data": data}}),
        },
        Part::Call {
            name, arguments, ..
        } => json!({"functionCall": {"name": name, "args": arguments}}),
        Part::Result { name, text, .. } => {
            json!({"functionResponse": {"name": name, "response": {"content": text}}})
        }
    });
    let contents = turns.into_iter();
    let contents = contents.map(|(role, parts)| json!({"role": role, "parts": parts}));
    whole["contents"] = contents.collect();
    if !system.is_empty() {
        whole["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters})
        });
        let tools: Value = tools.collect();
        whole["tools"] = json!([{"functionDeclarations": tools}]);
    }
    json!({"generateContentRequest": whole})
}

/// A part of a message, as each provider knows it in its own words.
enum Part<'a> {
    Text(&'a str),
    Media {
        kind: &'static str,
        mime: &'a str,
        source: Source<'a>,
    },
    Call {
        id: &'a str,
        name: &'a str,
        arguments: Value,
    },
    Result {
        id: &'a str,
        name: &'a str,
        text: String,
    },
}

enum Source<'a> {
    Url(&'a str),
    Base64(&'a str),
}

/// Returns the instructions, and the turns of the chat: results of tools are a turn of the user.
fn turns(
    request: &ChatRequest,
    assistant: &'static str,
    part: &dyn Fn(Part<'_>) -> Value,
) -> (String, Vec<(&'static str, Vec<Value>)>) {
    let mut system = Vec::new();
    let mut turns: Vec<(&'static str, Vec<Value>)> = Vec::new();
    let mut add = |role, parts: Vec<Value>| match turns.last_mut() {
        Some((last, known)) if *last == role => known.extend(parts),
        _ => turns.push((role, parts)),
    };
    for message in &request.messages {
        match &message.kind {
            MessageKind::System(_) | MessageKind::SystemParts(_) => system.push(message.text()),
            MessageKind::User(text) => add("user", vec![part(Part::Text(text))]),
            MessageKind::UserParts(parts) => add("user", all(parts, part)),
            MessageKind::Assistant(text) => add(assistant, vec![part(Part::Text(text))]),
            MessageKind::AssistantParts(parts) => add(assistant, all(parts, part)),
            MessageKind::ToolCalls { content, calls } => {
                let mut parts = match content {
                    Content::Text(text) if text.is_empty() => Vec::new(),
                    Content::Text(text) => vec![part(Part::Text(text))],
                    Content::Parts(parts) => all(parts, part),
                };
                parts.extend(calls.iter().map(|call| {
                    let arguments = match &call.arguments {
                        arguments @ Value::Object(_) => arguments.clone(),
                        other => json!({"invalid_arguments": other}),
                    };
                    part(Part::Call {
                        id: &call.id,
                        name: &call.name,
                        arguments,
                    })
                }));
                add(assistant, parts);
            }
            MessageKind::Tool(result) => add(
                "user",
                vec![part(Part::Result {
                    id: &result.call_id,
                    name: result.name.as_deref().unwrap_or_default(),
                    text: result.content.text().into_owned(),
                })],
            ),
            _ => {}
        }
    }
    (system.join("\n\n"), turns)
}

fn all(parts: &[ContentPart], part: &dyn Fn(Part<'_>) -> Value) -> Vec<Value> {
    let media = |kind, usual, media: &Media| match media {
        Media::Url { url, mime_type, .. } => Some(part(Part::Media {
            kind,
            mime: mime_type.as_deref().unwrap_or(usual),
            source: Source::Url(url),
        })),
        Media::Base64 {
            base64, mime_type, ..
        } => Some(part(Part::Media {
            kind,
            mime: mime_type,
            source: Source::Base64(base64),
        })),
        _ => None,
    };
    let parts = parts.iter().filter_map(|each| match each {
        ContentPart::Text { text, .. } => Some(part(Part::Text(text))),
        ContentPart::Image(image) => media("image", "image/png", image),
        ContentPart::Audio(audio) => media("audio", "audio/wav", audio),
        ContentPart::Video(video) => media("video", "video/mp4", video),
        ContentPart::File(file) => media("file", "application/pdf", file),
        // Earlier reasoning does not count.
        _ => None,
    });
    parts.collect()
}
