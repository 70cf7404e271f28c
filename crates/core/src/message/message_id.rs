//! The id of a message.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// Identifies a message in its history. It is a text, and compares, prints and serializes like one.
///
/// # Examples
///
/// ```
/// use langgraph::message::Message;
///
/// let message = Message::user("hi").with_id("m1");
/// assert_eq!(message.id.as_deref(), Some("m1"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MessageId(IdText);

/// The text of an id. One that is as long as a generated one needs no memory of its own.
#[derive(Clone, PartialEq, Eq)]
enum IdText {
    /// Always those of a text.
    Inline([u8; Hyphenated::LENGTH]),
    /// Of another length.
    Other(Box<str>),
}

impl MessageId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            IdText::Inline(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
            IdText::Other(text) => text,
        }
    }

    /// Generates an id; later ones sort after earlier ones.
    pub(crate) fn generate() -> Self {
        let mut buffer = [0; Hyphenated::LENGTH];
        let id = crate::id::new_id_at(crate::environment::now());
        id.hyphenated().encode_lower(&mut buffer);
        Self(IdText::Inline(buffer))
    }

    /// Returns true if the id looks like a generated one.
    pub(crate) fn looks_generated(&self) -> bool {
        let id = Uuid::try_parse(self.as_str());
        self.len() == Hyphenated::LENGTH && id.is_ok_and(|id| id.get_version_num() == 7)
    }
}

impl Deref for MessageId {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for MessageId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for MessageId {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for MessageId {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&str> for MessageId {
    fn from(text: &str) -> Self {
        Self(match text.as_bytes().try_into() {
            Ok(bytes) => IdText::Inline(bytes),
            Err(_) => IdText::Other(text.into()),
        })
    }
}

impl From<MessageId> for String {
    fn from(id: MessageId) -> Self {
        id.as_str().to_owned()
    }
}

impl From<MessageId> for serde_json::Value {
    fn from(id: MessageId) -> Self {
        id.as_str().into()
    }
}

impl PartialEq<str> for MessageId {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for MessageId {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for MessageId {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<MessageId> for String {
    fn eq(&self, other: &MessageId) -> bool {
        *self == other.as_str()
    }
}

impl PartialOrd for MessageId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MessageId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other)
    }
}

impl Hash for MessageId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl Serialize for MessageId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for MessageId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(MessageIdVisitor)
    }
}

struct MessageIdVisitor;

impl Visitor<'_> for MessageIdVisitor {
    type Value = MessageId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a message")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<MessageId, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_id_of_any_length_is_its_text() {
        let generated = MessageId::generate();
        assert!(generated.looks_generated());
        let chinese = "编".repeat(12);
        for text in ["", "m1", &generated, &chinese, &"x".repeat(37)] {
            let id = MessageId::from(text);
            assert_eq!(id.looks_generated(), text == &*generated);
            assert_eq!(
                (id.as_str(), &String::from(id.clone())),
                (text, &text.to_owned())
            );
            assert_eq!(format!("{id} {id:?}"), format!("{text} {text:?}"));
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(serde_json::from_str::<MessageId>(&json).unwrap(), id);
            assert!(HashSet::from([id]).contains(text));
        }
    }

    #[test]
    fn ids_are_unique_and_increase() {
        let ids: Vec<_> = (0..10_000).map(|_| MessageId::generate()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
}
