//! Content blocks in the spellings of LangChain's libraries and of providers.

use serde::de::{self, Deserializer};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ContentPart, Media};

/// The block from which a [`ContentPart`] was read, without its text or data.
///
/// A part writes this block again, with what is its text or data by then. It is empty for a part that was
/// made in the program, or that has no key beyond its fields.
///
/// # Examples
///
/// ```
/// use langgraph::message::ContentPart;
/// use serde_json::json;
///
/// let block = json!({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}});
/// let mut part: ContentPart = serde_json::from_value(block)?;
/// let ContentPart::Text { text, form } = &mut part else { panic!("expected text") };
/// assert_eq!(form.get("cache_control"), Some(&json!({"type": "ephemeral"})));
///
/// *text = "bye".to_owned();
/// assert_eq!(serde_json::to_value(&part)?["cache_control"]["type"], "ephemeral");
/// assert_eq!(serde_json::to_value(&part)?["text"], "bye");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockForm(Option<Box<Form>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Form {
    /// The block; `null` stands for the text or the data.
    block: Value,
    /// The path to it.
    at: &'static str,
    /// The data is in a `data:` address.
    in_url: bool,
}

impl BlockForm {
    fn new(block: Value, at: &'static str) -> Self {
        Self(Some(Box::new(Form {
            block,
            at,
            in_url: false,
        })))
    }

    /// Returns a key of the block.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_ref()?.block.get(key)
    }

    /// Returns true if the part writes its fields, and nothing else.
    pub fn is_plain(&self) -> bool {
        self.0.is_none()
    }
}

impl Form {
    fn with(&self, content: &str, mime_type: Option<&str>) -> Value {
        let mut block = self.block.clone();
        if let Some(place) = block.pointer_mut(self.at) {
            *place = match mime_type.filter(|_| self.in_url) {
                Some(mime_type) => format!("data:{mime_type};base64,{content}").into(),
                None => content.into(),
            };
        }
        block
    }
}

/// A part that writes its fields.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Plain<'a> {
    Text {
        text: &'a str,
    },
    Image(&'a Media),
    Audio(&'a Media),
    Video(&'a Media),
    File(&'a Media),
    Reasoning {
        reasoning: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<&'a str>,
    },
}

impl Serialize for ContentPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (form, content, mime_type) = match self {
            Self::Other(block) => return block.serialize(serializer),
            Self::Text { text, form } => (form, text, None),
            Self::Reasoning {
                reasoning, form, ..
            } => (form, reasoning, None),
            Self::Image(media) | Self::Audio(media) | Self::Video(media) | Self::File(media) => {
                match media {
                    Media::Url { url, form, .. } => (form, url, None),
                    Media::Base64 {
                        base64,
                        mime_type,
                        form,
                    } => (form, base64, Some(mime_type.as_str())),
                    Media::File { file_id, form, .. } => (form, file_id, None),
                }
            }
        };
        if let Some(form) = &form.0 {
            return form.with(content, mime_type).serialize(serializer);
        }
        let plain = match self {
            Self::Other(block) => return block.serialize(serializer),
            Self::Text { text, .. } => Plain::Text { text },
            Self::Image(media) => Plain::Image(media),
            Self::Audio(media) => Plain::Audio(media),
            Self::Video(media) => Plain::Video(media),
            Self::File(media) => Plain::File(media),
            Self::Reasoning {
                reasoning,
                signature,
                ..
            } => Plain::Reasoning {
                reasoning,
                signature: signature.as_deref(),
            },
        };
        plain.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContentPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            // A text in a list of parts.
            Value::String(text) => Ok(Self::Text {
                text,
                form: BlockForm::new(Value::Null, ""),
            }),
            block @ Value::Object(_) => Ok(read(block)),
            other => Err(de::Error::custom(format!(
                "a content part is text or an object with a `type`, found {other}"
            ))),
        }
    }
}

/// What a block is, apart from its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Image,
    Audio,
    Video,
    File,
}

fn kind(block: &Value) -> Option<Kind> {
    Some(match block["type"].as_str()? {
        "text" | "input_text" | "output_text" | "text-plain" => Kind::Text,
        "reasoning" | "thinking" => Kind::Reasoning,
        "image" | "image_url" | "input_image" => Kind::Image,
        "audio" | "input_audio" | "audio_url" => Kind::Audio,
        "video" | "video_url" => Kind::Video,
        "file" | "document" | "input_file" => Kind::File,
        "media" => match mime_type(block)?.split('/').next()? {
            "image" => Kind::Image,
            "audio" => Kind::Audio,
            "video" => Kind::Video,
            _ => Kind::File,
        },
        _ => return None,
    })
}

fn read(block: Value) -> ContentPart {
    let known = match kind(&block) {
        Some(Kind::Text) => text(block, "/text"),
        Some(Kind::Reasoning) => reasoning(block),
        Some(kind) => media(block, kind),
        None => Err(block),
    };
    known.unwrap_or_else(ContentPart::Other)
}

/// Takes the text at a path out of a block.
fn take(block: &mut Value, at: &str) -> Option<String> {
    match block.pointer_mut(at)?.take() {
        Value::String(text) => Some(text),
        other => {
            if let Some(place) = block.pointer_mut(at) {
                *place = other;
            }
            None
        }
    }
}

/// The form of a block; plain if it has no keys but these.
fn form(block: Value, at: &'static str, plain_type: bool, keys: &[&str]) -> BlockForm {
    let has_no_more = |fields: &serde_json::Map<String, Value>| {
        let mut others = fields.iter();
        others.all(|(key, value)| {
            key == "type" || (keys.contains(&&**key) && (value.is_string() || at.ends_with(key)))
        })
    };
    if plain_type && block.as_object().is_some_and(has_no_more) {
        return BlockForm::default();
    }
    BlockForm::new(block, at)
}

fn text(mut block: Value, at: &'static str) -> Result<ContentPart, Value> {
    let Some(text) = take(&mut block, at) else {
        return Err(block);
    };
    let is_plain = block["type"] == "text";
    let form = form(block, at, is_plain, &["text"]);
    Ok(ContentPart::Text { text, form })
}

fn reasoning(mut block: Value) -> Result<ContentPart, Value> {
    let is_plain = block["type"] == "reasoning";
    let at = if is_plain { "/reasoning" } else { "/thinking" };
    let Some(reasoning) = take(&mut block, at) else {
        return Err(block);
    };
    let signature = block["signature"].as_str().map(str::to_owned);
    Ok(ContentPart::Reasoning {
        reasoning,
        signature,
        form: form(block, at, is_plain, &["reasoning", "signature"]),
    })
}

/// Where blocks have their data, their address, and the id of their file.
const DATA: [&str; 6] = [
    "/base64",
    "/data",
    "/source/data",
    "/input_audio/data",
    "/file/file_data",
    "/file_data",
];
const ADDRESS: [&str; 8] = [
    "/url",
    "/image_url/url",
    "/image_url",
    "/source/url",
    "/audio_url/url",
    "/video_url/url",
    "/file_url",
    "/file_uri",
];
const FILE_ID: [&str; 4] = ["/file_id", "/fileId", "/source/file_id", "/file/file_id"];

/// Reads a picture, a sound, a film or a document.
fn media(mut block: Value, kind: Kind) -> Result<ContentPart, Value> {
    let named = |block: &Value, at: &str| block.pointer(at).is_some_and(Value::is_string);
    if block["source_type"] == "text" || block["source"]["type"] == "text" {
        // A document that is given as its text.
        let at = ["/text", "/data", "/source/data"];
        let at = at.into_iter().find(|at| named(&block, at));
        return match at {
            Some(at) => text(block, at),
            None => Err(block),
        };
    }
    let found = |places: &[&'static str]| places.iter().copied().find(|at| named(&block, at));
    let by_id = (block["source_type"] == "id").then_some("/id");
    let media = if let Some(at) = found(&DATA).or_else(|| found(&ADDRESS)) {
        content(block, at)?
    } else if let Some(at) = found(&FILE_ID).or(by_id) {
        let mime_type = mime_type(&block).map(str::to_owned);
        let Some(file_id) = take(&mut block, at) else {
            return Err(block);
        };
        let is_plain = is_plain(&block);
        Media::File {
            file_id,
            mime_type,
            form: form(block, at, is_plain, &["file_id", "mime_type"]),
        }
    } else {
        return Err(block);
    };
    Ok(match kind {
        Kind::Audio => ContentPart::Audio(media),
        Kind::Video => ContentPart::Video(media),
        Kind::File => ContentPart::File(media),
        _ => ContentPart::Image(media),
    })
}

/// Returns true for a block that LangChain knows by its type alone.
fn is_plain(block: &Value) -> bool {
    let plain = ["image", "audio", "video", "file"];
    let kind = block["type"].as_str();
    kind.is_some_and(|kind| plain.contains(&kind))
}

/// Reads what stands in the block at that place: the bytes, or their address.
fn content(mut block: Value, at: &'static str) -> Result<Media, Value> {
    let mime_type = mime_type(&block).map(str::to_owned);
    let Some(content) = take(&mut block, at) else {
        return Err(block);
    };
    if let Some((mime_type, base64)) = data_url(&content) {
        let (mime_type, base64) = (mime_type.to_owned(), base64.to_owned());
        let mut form = BlockForm::new(block, at);
        if let Some(form) = &mut form.0 {
            form.in_url = true;
        }
        return Ok(Media::Base64 {
            base64,
            mime_type,
            form,
        });
    }
    let is_plain = is_plain(&block);
    if ADDRESS.contains(&at) {
        return Ok(Media::Url {
            url: content,
            mime_type,
            form: form(block, at, is_plain, &["url", "mime_type"]),
        });
    }
    let mime_type = mime_type.or_else(|| guessed(&content).map(str::to_owned));
    let Some(mime_type) = mime_type else {
        if let Some(place) = block.pointer_mut(at) {
            *place = content.into();
        }
        return Err(block);
    };
    let is_plain = is_plain && block["mime_type"].is_string();
    Ok(Media::Base64 {
        base64: content,
        mime_type,
        form: form(block, at, is_plain, &["base64", "mime_type"]),
    })
}

fn mime_type(block: &Value) -> Option<&str> {
    let places = [
        "/mime_type",
        "/mimeType",
        "/media_type",
        "/source/media_type",
    ];
    let mut places = places.iter().filter_map(|at| block.pointer(at)?.as_str());
    let format = block.pointer("/input_audio/format").and_then(Value::as_str);
    places.next().or_else(|| {
        Some(match format? {
            "mp3" => "audio/mpeg",
            _ => "audio/wav",
        })
    })
}

/// Splits a `data:` address into its MIME type and its base64 text.
fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// The MIME type of base64 text, by its first bytes.
fn guessed(base64: &str) -> Option<&'static str> {
    let starts = [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("JVBERi", "application/pdf"),
        ("SUQz", "audio/mpeg"),
    ];
    let known = starts.iter().find(|(start, _)| base64.starts_with(start));
    known.map(|(_, mime_type)| *mime_type)
}

#[cfg(test)]
mod tests;
