//! The content of messages: text, or parts.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::block::BlockForm;

/// The content of a message: text, or a list of parts. On the wire: a string, or an array.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Content, ContentPart};
///
/// let content = Content::from("hi");
/// assert_eq!(content.text(), "hi");
/// let content = Content::from(vec![ContentPart::text("a"), ContentPart::text("b")]);
/// assert_eq!(content.text(), "ab");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Text with images, sound, files or reasoning.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// Returns the text: for parts, the concatenation of the text parts.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => text_of(parts),
        }
    }

    /// Returns the parts; empty for plain text.
    pub fn parts(&self) -> &[ContentPart] {
        match self {
            Self::Text(_) => &[],
            Self::Parts(parts) => parts,
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Cow<'_, str>> for Content {
    fn from(text: Cow<'_, str>) -> Self {
        Self::Text(text.into_owned())
    }
}

impl From<Vec<ContentPart>> for Content {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// Unlike an untagged enum, this visitor says what is wrong with a part.
struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a list of content parts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
        Ok(text.into())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Content, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = items.next_element()? {
            parts.push(part);
        }
        Ok(Content::Parts(parts))
    }
}

pub(super) fn text_of(parts: &[ContentPart]) -> Cow<'_, str> {
    let mut texts = parts.iter().filter_map(|part| match part {
        ContentPart::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let Some(first) = texts.next() else {
        return Cow::Borrowed("");
    };
    texts.fold(Cow::Borrowed(first), |joined, text| joined + text)
}

/// One part of a message.
///
/// The wire form is that of the standard content blocks of Python's `langchain`: `{"type": "text", "text": …}`,
/// `{"type": "image", "url": …}`, `{"type": "image", "base64": …, "mime_type": …}`,
/// `{"type": "reasoning", "reasoning": …}`. Reading also accepts the blocks of LangChain's JavaScript library,
/// of OpenAI, of Anthropic and of Google. A part that was read writes the block that it was read from: its
/// spelling, and the keys that have no field here, are in its [`BlockForm`].
///
/// # Examples
///
/// ```
/// use langgraph::message::{ContentPart, Media};
/// use serde_json::json;
///
/// let part: ContentPart =
///     serde_json::from_str(r#"{"type": "image", "url": "https://example.org/a.png"}"#)?;
/// assert_eq!(part, ContentPart::Image(Media::url("https://example.org/a.png")));
///
/// // OpenAI's block has the same meaning, and stays as it is.
/// let block = json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}});
/// let part: ContentPart = serde_json::from_value(block.clone())?;
/// let ContentPart::Image(Media::Url { url, .. }) = &part else { panic!("expected a picture") };
/// assert_eq!(url, "https://example.org/a.png");
/// assert_eq!(serde_json::to_value(&part)?, block);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// The block that it was read from.
        form: BlockForm,
    },
    /// A picture.
    Image(Media),
    /// Sound.
    Audio(Media),
    /// A film.
    Video(Media),
    /// A document.
    File(Media),
    /// The model's reasoning before its answer.
    Reasoning {
        /// The reasoning.
        reasoning: String,
        /// Data that identifies the reasoning, which its provider wants returned. `langgraph-genai` puts
        /// the provider's name before it, and sends reasoning of one provider to no other.
        signature: Option<String>,
        /// The block that it was read from.
        form: BlockForm,
    },
    /// A block of another kind. It is kept and written as it is; models do not get it.
    Other(Value),
}

impl ContentPart {
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            form: BlockForm::default(),
        }
    }

    /// Creates a reasoning part, with its signature if the provider has sent one.
    pub fn reasoning(reasoning: impl Into<String>, signature: Option<String>) -> Self {
        Self::Reasoning {
            reasoning: reasoning.into(),
            signature,
            form: BlockForm::default(),
        }
    }

    /// Creates an image part that the provider fetches.
    pub fn image_url(url: impl Into<String>) -> Self {
        Self::Image(Media::url(url))
    }

    /// Creates an image part that is sent as base64 text.
    pub fn image_base64(mime_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self::Image(Media::base64(mime_type, base64))
    }
}

/// The location of a picture, a sound or a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "MediaFields", untagged)]
#[non_exhaustive]
pub enum Media {
    /// An address.
    Url {
        /// The address.
        url: String,
        /// The MIME type, such as `image/png`, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The block that it was read from.
        #[serde(skip)]
        form: BlockForm,
    },
    /// Inline base64 text.
    Base64 {
        /// The bytes.
        base64: String,
        /// The MIME type, such as `image/png`.
        mime_type: String,
        /// The block that it was read from.
        #[serde(skip)]
        form: BlockForm,
    },
    /// A file that the provider has already.
    File {
        /// The provider's id of the file.
        file_id: String,
        /// The MIME type, such as `image/png`, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The block that it was read from.
        #[serde(skip)]
        form: BlockForm,
    },
}

impl Media {
    /// Creates media at an address.
    pub fn url(url: impl Into<String>) -> Self {
        Self::Url {
            url: url.into(),
            mime_type: None,
            form: BlockForm::default(),
        }
    }

    /// Creates inline media from base64 text.
    pub fn base64(mime_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self::Base64 {
            base64: base64.into(),
            mime_type: mime_type.into(),
            form: BlockForm::default(),
        }
    }

    /// Creates media that the provider has under an id.
    pub fn file(file_id: impl Into<String>) -> Self {
        Self::File {
            file_id: file_id.into(),
            mime_type: None,
            form: BlockForm::default(),
        }
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn with_mime_type(mut self, given: impl Into<String>) -> Self {
        match &mut self {
            Self::Url { mime_type, .. } | Self::File { mime_type, .. } => {
                *mime_type = Some(given.into());
            }
            Self::Base64 { mime_type, .. } => *mime_type = given.into(),
        }
        self
    }

    /// Returns the block that it was read from.
    pub fn form(&self) -> &BlockForm {
        match self {
            Self::Url { form, .. } | Self::Base64 { form, .. } | Self::File { form, .. } => form,
        }
    }
}

#[derive(Deserialize)]
struct MediaFields {
    url: Option<String>,
    base64: Option<String>,
    file_id: Option<String>,
    mime_type: Option<String>,
}

impl TryFrom<MediaFields> for Media {
    type Error = &'static str;

    fn try_from(fields: MediaFields) -> Result<Self, Self::Error> {
        let form = BlockForm::default();
        match (fields.url, fields.base64, fields.file_id) {
            (Some(url), None, None) => Ok(Self::Url {
                url,
                mime_type: fields.mime_type,
                form,
            }),
            (None, Some(base64), None) => Ok(Self::Base64 {
                base64,
                mime_type: fields
                    .mime_type
                    .ok_or("media given as `base64` needs its `mime_type`")?,
                form,
            }),
            (None, None, Some(file_id)) => Ok(Self::File {
                file_id,
                mime_type: fields.mime_type,
                form,
            }),
            (None, None, None) => {
                Err("media is given as `url`, as `file_id`, or as `base64` with `mime_type`")
            }
            _ => Err("media is given as `url`, as `base64` or as `file_id`, found two of these"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_keep_their_wire_form() {
        for (part, wire) in [
            (
                ContentPart::text("你好"),
                json!({"type": "text", "text": "你好"}),
            ),
            (
                ContentPart::image_url("u"),
                json!({"type": "image", "url": "u"}),
            ),
            (
                ContentPart::image_base64("image/png", "AA=="),
                json!({"type": "image", "base64": "AA==", "mime_type": "image/png"}),
            ),
            (
                ContentPart::Audio(Media::base64("audio/wav", "AA==")),
                json!({"type": "audio", "base64": "AA==", "mime_type": "audio/wav"}),
            ),
            (
                ContentPart::File(Media::url("u").with_mime_type("application/pdf")),
                json!({"type": "file", "url": "u", "mime_type": "application/pdf"}),
            ),
            (
                ContentPart::reasoning("hm", Some("s".into())),
                json!({"type": "reasoning", "reasoning": "hm", "signature": "s"}),
            ),
        ] {
            assert_eq!(serde_json::to_value(&part).unwrap(), wire);
            assert_eq!(serde_json::from_value::<ContentPart>(wire).unwrap(), part);
        }
    }

    #[test]
    fn a_bad_part_says_what_is_wrong() {
        let error = |wire| {
            let error = serde_json::from_value::<Content>(wire).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            error(json!([5])),
            "a content part is text or an object with a `type`, found 5"
        );
        assert_eq!(
            error(json!(5)),
            "invalid type: integer `5`, expected text or a list of content parts"
        );
        let media = |wire| {
            let error = serde_json::from_value::<Media>(wire).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            media(json!({"base64": "AA=="})),
            "media given as `base64` needs its `mime_type`"
        );
    }

    #[test]
    fn text_joins_the_text_parts_only() {
        let content = Content::from(vec![
            ContentPart::reasoning("hm", None),
            ContentPart::text("a"),
            ContentPart::image_url("u"),
            ContentPart::text("b"),
        ]);
        assert_eq!(content.text(), "ab");
        assert!(matches!(
            Content::from(vec![ContentPart::text("a")]).text(),
            Cow::Borrowed("a")
        ));
    }
}
