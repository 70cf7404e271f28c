//! The id of a message.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

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
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(String);

impl MessageId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Generates an id; later ones sort after earlier ones.
    pub(crate) fn generate() -> Self {
        let mut buffer = Uuid::encode_buffer();
        let id = crate::id::new_id_at(crate::environment::now());
        Self(id.hyphenated().encode_lower(&mut buffer).to_owned())
    }
}

impl Deref for MessageId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for MessageId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for MessageId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<String> for MessageId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for MessageId {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<MessageId> for String {
    fn from(id: MessageId) -> Self {
        id.0
    }
}

impl From<MessageId> for serde_json::Value {
    fn from(id: MessageId) -> Self {
        id.0.into()
    }
}

impl PartialEq<str> for MessageId {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for MessageId {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for MessageId {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl PartialEq<MessageId> for String {
    fn eq(&self, other: &MessageId) -> bool {
        *self == other.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_increase() {
        let ids: Vec<_> = (0..10_000).map(|_| MessageId::generate()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
}
