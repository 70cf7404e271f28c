//! Converts answers of servers into message parts.

use langgraph::message::{Content, ContentPart, Media};
use langgraph_agent::ToolOutput;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Serialize;

/// Converts the answer of a tool.
pub(crate) fn output(result: CallToolResult) -> ToolOutput {
    ToolOutput::content(content(result))
}

/// Returns the text of an answer.
pub(crate) fn text(result: CallToolResult) -> String {
    content(result).text().into_owned()
}

fn content(result: CallToolResult) -> Content {
    let mut parts: Vec<_> = result.content.into_iter().map(part).collect();
    if parts.is_empty()
        && let Some(value) = result.structured_content
    {
        parts.push(ContentPart::text(value.to_string()));
    }
    joined(parts)
}

/// Converts what is in a resource.
pub(crate) fn read(contents: Vec<ResourceContents>) -> Content {
    joined(contents.into_iter().map(resource).collect())
}

/// A single text is a text: every provider accepts it.
pub(crate) fn joined(parts: Vec<ContentPart>) -> Content {
    match <[ContentPart; 1]>::try_from(parts) {
        Ok([ContentPart::Text { text, .. }]) => Content::Text(text),
        Ok([part]) => Content::from(vec![part]),
        Err(parts) => Content::from(parts),
    }
}

pub(crate) fn part(block: ContentBlock) -> ContentPart {
    match block {
        ContentBlock::Text(text) => ContentPart::text(text.text),
        ContentBlock::Image(image) => ContentPart::image_base64(image.mime_type, image.data),
        ContentBlock::Audio(audio) => {
            ContentPart::Audio(Media::base64(audio.mime_type, audio.data))
        }
        ContentBlock::Resource(embedded) => resource(embedded.resource),
        // Models cannot follow it, but may mention it.
        ContentBlock::ResourceLink(link) => {
            ContentPart::text(format!("{}: {}", link.name, link.uri))
        }
        later => as_json(&later),
    }
}

fn resource(contents: ResourceContents) -> ContentPart {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => ContentPart::text(text),
        ResourceContents::BlobResourceContents {
            mime_type, blob, ..
        } => {
            let mime_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
            ContentPart::File(Media::base64(mime_type, blob))
        }
        later => as_json(&later),
    }
}

/// A kind of content newer than this crate: the model may know it.
fn as_json(content: &impl Serialize) -> ContentPart {
    ContentPart::text(serde_json::to_string(content).unwrap_or_default())
}
