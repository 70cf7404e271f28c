//! The answer of a graph as the content of a tool's result.

use langgraph::message::{Content, ContentPart, Media};
use langgraph_agent::ToolOutput;
use rmcp::model::{ContentBlock, ResourceContents};

/// Converts an answer.
pub(super) fn blocks(output: &ToolOutput) -> Vec<ContentBlock> {
    match output.answer() {
        Content::Text(text) => vec![ContentBlock::text(text)],
        Content::Parts(parts) => parts.iter().filter_map(block).collect(),
    }
}

/// Converts a part of an answer. The reasoning of a model is left out.
fn block(part: &ContentPart) -> Option<ContentBlock> {
    let (media, kind) = match part {
        ContentPart::Text { text, .. } => return Some(ContentBlock::text(text)),
        ContentPart::Image(media) => (media, "image"),
        ContentPart::Audio(media) => (media, "audio"),
        ContentPart::File(media) => (media, "file"),
        _ => return None,
    };
    Some(match media {
        Media::Url { url, .. } => ContentBlock::text(url),
        Media::Base64 {
            base64, mime_type, ..
        } => match kind {
            "image" => ContentBlock::image(base64, mime_type),
            "audio" => ContentBlock::audio(base64, mime_type),
            _ => {
                let contents = ResourceContents::blob(base64, "attachment:");
                ContentBlock::resource(contents.with_mime_type(mime_type))
            }
        },
        _ => return None,
    })
}
