use serde_json::{Value, json};

use super::*;

fn part(block: &Value) -> ContentPart {
    let part = serde_json::from_value::<ContentPart>(block.clone()).unwrap();
    assert_eq!(serde_json::to_value(&part).unwrap(), *block);
    let text = serde_json::to_string(&part).unwrap();
    assert_eq!(serde_json::from_str::<ContentPart>(&text).unwrap(), part);
    part
}

/// What a model gets: the kind, the content, and the MIME type.
fn meaning(part: &ContentPart) -> (&str, &str, &str) {
    let (kind, media) = match part {
        ContentPart::Text { text, .. } => return ("text", text, ""),
        ContentPart::Reasoning { reasoning, .. } => return ("reasoning", reasoning, ""),
        ContentPart::Image(media) => ("image", media),
        ContentPart::Audio(media) => ("audio", media),
        ContentPart::Video(media) => ("video", media),
        ContentPart::File(media) => ("file", media),
        ContentPart::Other(_) => return ("other", "", ""),
    };
    match media {
        Media::Url { url, mime_type, .. } => (kind, url, mime_type.as_deref().unwrap_or_default()),
        Media::Base64 {
            base64, mime_type, ..
        } => (kind, base64, mime_type),
        Media::File {
            file_id, mime_type, ..
        } => (kind, file_id, mime_type.as_deref().unwrap_or_default()),
    }
}

const PNG: &str = "iVBORw0KGgo=";

/// Checks what a model gets of blocks, and that they come back whole.
fn check<'a>(blocks: impl IntoIterator<Item = (Value, (&'a str, &'a str, &'a str))>) {
    for (block, expected) in blocks {
        assert_eq!(meaning(&part(&block)), expected, "{block}");
    }
}

#[test]
fn blocks_of_text_are_understood_and_come_back_whole() {
    check([
        (json!("hi"), ("text", "hi", "")),
        (
            json!({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}, "index": 0}),
            ("text", "hi", ""),
        ),
        (
            json!({"type": "input_text", "text": "hi"}),
            ("text", "hi", ""),
        ),
        (
            json!({"type": "text-plain", "text": "hi", "mime_type": "text/plain"}),
            ("text", "hi", ""),
        ),
    ]);
}

#[test]
fn blocks_of_langchain_are_understood_and_come_back_whole() {
    check([
        // LangChain's JavaScript library, and Agent Chat UI.
        (
            json!({"type": "image", "mimeType": "image/png", "data": PNG, "metadata": {"name": "a"}}),
            ("image", PNG, "image/png"),
        ),
        (
            json!({"type": "file", "mimeType": "application/pdf", "data": "JVBERi0=", "metadata": {"filename": "a.pdf"}}),
            ("file", "JVBERi0=", "application/pdf"),
        ),
        (
            json!({"type": "video", "fileId": "f1"}),
            ("video", "f1", ""),
        ),
        // LangChain's standard blocks, the second and the first version.
        (
            json!({"type": "image", "url": "u", "mime_type": "image/gif"}),
            ("image", "u", "image/gif"),
        ),
        (
            json!({"type": "video", "base64": "AA", "mime_type": "video/mp4", "id": "lc_1"}),
            ("video", "AA", "video/mp4"),
        ),
        (json!({"type": "file", "file_id": "f1"}), ("file", "f1", "")),
        (
            json!({"type": "image", "source_type": "base64", "mime_type": "image/jpeg", "data": "AA"}),
            ("image", "AA", "image/jpeg"),
        ),
        (
            json!({"type": "audio", "source_type": "url", "url": "u"}),
            ("audio", "u", ""),
        ),
        (
            json!({"type": "file", "source_type": "id", "id": "f1"}),
            ("file", "f1", ""),
        ),
        (
            json!({"type": "file", "source_type": "text", "text": "hi", "mime_type": "text/plain"}),
            ("text", "hi", ""),
        ),
    ]);
}

#[test]
fn blocks_of_providers_are_understood_and_come_back_whole() {
    let data_url = format!("data:image/png;base64,{PNG}");
    let pdf_url = "data:application/pdf;base64,JVBERi0=";
    check([
        // OpenAI.
        (
            json!({"type": "image_url", "image_url": {"url": "u", "detail": "low"}}),
            ("image", "u", ""),
        ),
        (
            json!({"type": "image_url", "image_url": "u"}),
            ("image", "u", ""),
        ),
        (
            json!({"type": "image_url", "image_url": {"url": data_url}}),
            ("image", PNG, "image/png"),
        ),
        (
            json!({"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}}),
            ("audio", "AA", "audio/mpeg"),
        ),
        (
            json!({"type": "file", "file": {"file_data": pdf_url, "filename": "a.pdf"}}),
            ("file", "JVBERi0=", "application/pdf"),
        ),
        (
            json!({"type": "file", "file": {"file_id": "f1"}}),
            ("file", "f1", ""),
        ),
        // Anthropic.
        (
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}),
            ("image", PNG, "image/png"),
        ),
        (
            json!({"type": "document", "source": {"type": "url", "url": "u"}, "title": "t"}),
            ("file", "u", ""),
        ),
        (
            json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}}),
            ("text", "hi", ""),
        ),
        (
            json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
            ("reasoning", "hm", ""),
        ),
        (
            json!({"type": "reasoning", "reasoning": "hm", "extras": {"a": 1}}),
            ("reasoning", "hm", ""),
        ),
        // Google.
        (
            json!({"type": "media", "mime_type": "video/mp4", "file_uri": "u"}),
            ("video", "u", "video/mp4"),
        ),
    ]);
}

#[test]
fn blocks_that_say_little_are_understood_or_kept() {
    check([
        // Without a MIME type.
        (
            json!({"type": "image", "base64": PNG}),
            ("image", PNG, "image/png"),
        ),
        (
            json!({"type": "image", "base64": "????"}),
            ("other", "", ""),
        ),
        // What is no content for a model.
        (
            json!({"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}),
            ("other", "", ""),
        ),
        (json!({"type": "image"}), ("other", "", "")),
        (json!({"type": "text", "text": null}), ("other", "", "")),
        (json!({"type": "smell", "of": ["roses"]}), ("other", "", "")),
        (json!({"anything": 1}), ("other", "", "")),
    ]);
}

#[test]
fn a_changed_part_writes_what_it_holds_now() {
    let block = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
    let ContentPart::Image(Media::Base64 {
        mut base64,
        mime_type,
        form,
    }) = part(&block)
    else {
        panic!("expected a picture");
    };
    base64.push_str("BB");
    let changed = ContentPart::Image(Media::Base64 {
        base64,
        mime_type,
        form,
    });
    assert_eq!(
        serde_json::to_value(&changed).unwrap(),
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AABB"}})
    );
}

#[test]
fn a_part_without_further_keys_is_plain() {
    for block in [
        json!({"type": "text", "text": "hi"}),
        json!({"type": "image", "url": "u"}),
        json!({"type": "audio", "base64": "AA", "mime_type": "audio/wav"}),
        json!({"type": "reasoning", "reasoning": "hm", "signature": "s"}),
    ] {
        let is_plain = match &part(&block) {
            ContentPart::Text { form, .. } | ContentPart::Reasoning { form, .. } => form.is_plain(),
            ContentPart::Image(media) | ContentPart::Audio(media) => media.form().is_plain(),
            other => panic!("expected a plain part, found {other:?}"),
        };
        assert!(is_plain, "{block}");
    }
}
