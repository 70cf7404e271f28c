//! What servers answer, as the parts of a message.

use langgraph::message::{Content, ContentPart, Media};
use langgraph_agent::ToolOutput;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Serialize;

/// What a tool has answered, for the model.
pub(crate) fn output(result: CallToolResult) -> ToolOutput {
    ToolOutput::content(content(result))
}

/// The words of an answer.
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
    // One text is what every provider takes.
    match <[ContentPart; 1]>::try_from(parts) {
        Ok([ContentPart::Text { text }]) => Content::Text(text),
        Ok([part]) => Content::from(vec![part]),
        Err(parts) => Content::from(parts),
    }
}

fn part(block: ContentBlock) -> ContentPart {
    match block {
        ContentBlock::Text(text) => ContentPart::text(text.text),
        ContentBlock::Image(image) => ContentPart::image_base64(image.mime_type, image.data),
        ContentBlock::Audio(audio) => {
            ContentPart::Audio(Media::base64(audio.mime_type, audio.data))
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => ContentPart::text(text),
            ResourceContents::BlobResourceContents {
                mime_type, blob, ..
            } => {
                let mime_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                ContentPart::File(Media::base64(mime_type, blob))
            }
            later => as_json(&later),
        },
        // Models cannot follow it, but may name it.
        ContentBlock::ResourceLink(link) => {
            ContentPart::text(format!("{}: {}", link.name, link.uri))
        }
        later => as_json(&later),
    }
}

/// A kind of content that came after this crate: the model may know it.
fn as_json(content: &impl Serialize) -> ContentPart {
    ContentPart::text(serde_json::to_string(content).unwrap_or_default())
}
