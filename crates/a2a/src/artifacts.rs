//! The artifacts of a task: how they are written, weighed and put together.

use std::collections::HashMap;

use a2a::{Artifact, Message, Part, PartContent, StreamResponse};
use langgraph_remote::StreamContent;
use serde_json::{Value, json};

use crate::wire;

/// The approximate bytes of a message or an artifact besides its parts.
const OVERHEAD: usize = 256;

pub(crate) fn artifact(id: &str, parts: Vec<Part>) -> Artifact {
    Artifact {
        artifact_id: id.to_owned(),
        name: None,
        description: None,
        parts,
        metadata: None,
        extensions: None,
    }
}

/// Writes a chunk. That of a message is its text; its metadata has the whole chunk.
pub(crate) fn chunk_part(content: Option<StreamContent>, chunk: &Value) -> Part {
    if content != Some(StreamContent::Messages) {
        return wire::part(chunk);
    }
    let text = chunk.get("text").and_then(Value::as_str);
    let mut part = Part::text(text.unwrap_or_default());
    part.metadata = Some(wire::metadata(json!({ "chunk": chunk.to_string() })));
    part
}

/// Returns the approximate bytes of an artifact.
pub(crate) fn artifact_bytes(artifact: &Artifact) -> usize {
    parts_bytes(&artifact.parts)
}

/// Returns the approximate bytes of a message.
pub(crate) fn message_bytes(message: &Message) -> usize {
    let metadata = message.metadata.iter().flatten();
    let metadata: usize = metadata
        .map(|(name, value)| name.len() + json_bytes(value))
        .sum();
    parts_bytes(&message.parts) + metadata
}

fn parts_bytes(parts: &[Part]) -> usize {
    let parts = parts.iter().map(|part| {
        let metadata = part.metadata.iter().flatten();
        let metadata = metadata.map(|(name, value)| name.len() + json_bytes(value));
        content_bytes(&part.content) + metadata.sum::<usize>() + OVERHEAD / 4
    });
    parts.sum::<usize>() + OVERHEAD
}

fn content_bytes(content: &PartContent) -> usize {
    match content {
        PartContent::Text(text) | PartContent::Url(text) => text.len(),
        PartContent::Data(data) => json_bytes(data),
        PartContent::Raw(bytes) => bytes.len(),
    }
}

/// Returns the approximate bytes of a value in memory.
fn json_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => 32 + text.len(),
        Value::Array(items) => 32 + items.iter().map(json_bytes).sum::<usize>(),
        Value::Object(fields) => {
            let fields = fields.iter();
            32 + fields
                .map(|(name, value)| 64 + name.len() + json_bytes(value))
                .sum::<usize>()
        }
        _ => 32,
    }
}

/// Returns the artifacts that updates have built.
pub(crate) fn fold(events: &[StreamResponse]) -> Vec<Artifact> {
    let mut indexes: HashMap<&str, usize> = HashMap::new();
    let mut artifacts: Vec<Artifact> = Vec::new();
    for event in events {
        let StreamResponse::ArtifactUpdate(update) = event else {
            continue;
        };
        let id = update.artifact.artifact_id.as_str();
        let known = indexes.get(id).and_then(|index| artifacts.get_mut(*index));
        match known {
            Some(artifact) if update.append == Some(true) => {
                artifact.parts.extend(update.artifact.parts.iter().cloned());
            }
            Some(artifact) => *artifact = update.artifact.clone(),
            None => {
                indexes.insert(id, artifacts.len());
                artifacts.push(update.artifact.clone());
            }
        }
    }
    artifacts
}
