//! The content type of streams.

use langgraph::message::{MessageAccumulator, MessageChunk};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The content type of a stream, which decides how its chunks are joined.
///
/// The metadata of the stream's start declares it, under `content`. Without a declaration, a stream
/// of strings is text, and any other is values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StreamContent {
    /// Strings; they join into one string.
    Text,
    /// [`MessageChunk`]s of one or several messages; they join into the message, or into a list of
    /// messages if there are several.
    Messages,
    /// Any values; they join into a list.
    Values,
    /// Pieces of a JSON text; they join into the value that it says. So travels what is larger than a frame.
    Json,
}

impl StreamContent {
    /// Returns the metadata of a stream with this content.
    pub fn metadata(self) -> Value {
        serde_json::json!({ "content": self })
    }

    /// Reads the content from the metadata of a stream, if declared.
    pub fn of(metadata: &Value) -> Option<Self> {
        Self::deserialize(metadata.get("content")?).ok()
    }
}

/// Joins the chunks of a stream with that metadata into one value.
pub(crate) fn join(metadata: &Value, chunks: Vec<Value>) -> Value {
    let texts = || !chunks.is_empty() && chunks.iter().all(Value::is_string);
    let content = StreamContent::of(metadata).unwrap_or_else(|| {
        if texts() {
            StreamContent::Text
        } else {
            StreamContent::Values
        }
    });
    let joined = match content {
        StreamContent::Text => text(&chunks),
        StreamContent::Messages => messages(&chunks),
        StreamContent::Values => None,
        StreamContent::Json => json(&chunks),
    };
    // If the chunks do not match the metadata, all of them are returned as they are.
    joined.unwrap_or(Value::Array(chunks))
}

fn text(chunks: &[Value]) -> Option<Value> {
    let text: Option<String> = chunks.iter().map(Value::as_str).collect();
    text.map(Value::String)
}

fn json(chunks: &[Value]) -> Option<Value> {
    let text: Option<String> = chunks.iter().map(Value::as_str).collect();
    serde_json::from_str(&text?).ok()
}

fn messages(chunks: &[Value]) -> Option<Value> {
    // In the order of their first chunks; a chunk without an id continues the previous message.
    let mut open: Vec<(Option<String>, MessageAccumulator)> = Vec::new();
    for chunk in chunks {
        let chunk = MessageChunk::deserialize(chunk).ok()?;
        let known = match &chunk.id {
            None => open.len().checked_sub(1),
            id => open.iter().position(|(other, _)| other == id),
        };
        match known.and_then(|index| open.get_mut(index)) {
            Some((_, message)) => message.push(chunk),
            None => open.push((chunk.id.clone(), [chunk].into_iter().collect())),
        }
    }
    let mut whole: Vec<Value> = open
        .into_iter()
        .map(|(_, message)| serde_json::to_value(message.finish()))
        .collect::<Result<_, _>>()
        .ok()?;
    match whole.len() {
        1 => whole.pop(),
        _ => Some(Value::Array(whole)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::StreamContent::{Json, Messages, Text, Values};
    use super::*;
    use langgraph::message::Message;

    fn whole(content: Option<StreamContent>, chunks: &[Value]) -> Value {
        let metadata = content.map_or(Value::Null, StreamContent::metadata);
        join(&metadata, chunks.to_vec())
    }

    #[test]
    fn chunks_are_joined_as_what_they_are() {
        assert_eq!(whole(None, &[json!("a"), json!("b")]), "ab");
        assert_eq!(whole(None, &[json!("a"), json!(1)]), json!(["a", 1]));
        assert_eq!(whole(None, &[]), json!([]));
        assert_eq!(whole(Some(Text), &[]), "");
        assert_eq!(whole(Some(Values), &[json!("a")]), json!(["a"]));
        assert_eq!(whole(Some(Text), &[json!(1)]), json!([1]));
        let pieces = [json!("{\"a\": [1"), json!(", 2]}")];
        assert_eq!(whole(Some(Json), &pieces), json!({"a": [1, 2]}));
        assert_eq!(whole(Some(Json), &pieces[..1]), json!(["{\"a\": [1"]));
    }

    #[test]
    fn message_chunks_are_joined_by_message() {
        let piece = |id: &str, text: &str| json!({"id": id, "text": text});
        let one = whole(Some(Messages), &[piece("m", "He"), json!({"text": "y"})]);
        let one: Message = serde_json::from_value(one).unwrap();
        assert_eq!((one.id.as_deref(), &*one.text()), (Some("m"), "Hey"));
        let two = [piece("m", "a"), piece("n", "b"), piece("m", "c")];
        let two: Vec<Message> = serde_json::from_value(whole(Some(Messages), &two)).unwrap();
        assert_eq!((&*two[0].text(), &*two[1].text()), ("ac", "b"));
    }
}
