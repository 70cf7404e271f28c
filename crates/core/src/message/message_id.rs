//! The id of a message.

use std::borrow::Borrow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// Identifies a message in its history. It is a text, and compares, prints and serializes like one.
///
/// A generated id exists nowhere else, so `add_messages` need not search the history for it. It is
/// *fresh* until its message is merged: between fixing the ids of an update and merging it.
///
/// - A clone is not fresh, and neither is an id that was serialized. So a copy of a fresh message never
///   counts as fresh.
/// - Fixing the ids of an update settles every id that exists already. So a message that leaves a state
///   and enters again never counts as fresh.
/// - Merging settles an id, so no state holds a fresh one.
///
/// An id that is settled too early costs a search of the history and changes no result: an unknown id is
/// appended too. A reader that merges stored updates again, and knows the earlier ids, can have ids
/// [read](Reading) as fresh.
///
/// # Examples
///
/// ```
/// use langgraph::message::Message;
///
/// let message = Message::user("hi").with_id("m1");
/// assert_eq!(message.id.as_deref(), Some("m1"));
/// ```
pub struct MessageId {
    text: String,
    fresh: bool,
}

impl MessageId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true for a new id: no history has it yet, so a merge appends its message without a
    /// search.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Generates an id; later ones sort after earlier ones.
    pub(crate) fn generate() -> Self {
        let mut buffer = Uuid::encode_buffer();
        let id = crate::id::new_id();
        Self {
            text: id.hyphenated().encode_lower(&mut buffer).to_owned(),
            fresh: false,
        }
    }

    /// Generates a fresh id.
    pub(crate) fn generate_fresh() -> Self {
        Self {
            fresh: true,
            ..Self::generate()
        }
    }

    /// Makes the id one that a history may have.
    pub(crate) fn settle(&mut self) {
        self.fresh = false;
    }
}

impl Clone for MessageId {
    /// Copies the text. The copy is not fresh.
    fn clone(&self) -> Self {
        self.text.clone().into()
    }
}

impl Deref for MessageId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for MessageId {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Borrow<str> for MessageId {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl From<String> for MessageId {
    fn from(text: String) -> Self {
        Self { text, fresh: false }
    }
}

impl From<&str> for MessageId {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<MessageId> for String {
    fn from(id: MessageId) -> Self {
        id.text
    }
}

impl From<MessageId> for serde_json::Value {
    fn from(id: MessageId) -> Self {
        id.text.into()
    }
}

impl PartialEq for MessageId {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for MessageId {}

impl PartialEq<str> for MessageId {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for MessageId {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl PartialEq<String> for MessageId {
    fn eq(&self, other: &String) -> bool {
        self.text == *other
    }
}

impl PartialEq<MessageId> for String {
    fn eq(&self, other: &MessageId) -> bool {
        *self == other.text
    }
}

impl PartialOrd for MessageId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MessageId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for MessageId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl Serialize for MessageId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

thread_local! {
    /// The number of ids read as fresh; `None` while none are.
    static READING: Cell<Option<usize>> = const { Cell::new(None) };
}

/// While this value lives, generated ids that are read on this thread are fresh. Its creator must
/// settle, by cloning, every message whose id is not new.
#[derive(Debug)]
#[must_use = "the ids are fresh while it lives"]
pub struct Reading(());

impl Reading {
    /// Begins to read ids as fresh.
    pub fn begin() -> Self {
        READING.set(Some(0));
        Self(())
    }

    /// Ends it, and returns the number of fresh ids.
    pub fn end(self) -> usize {
        let fresh = READING.get().unwrap_or(0);
        drop(self);
        fresh
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        READING.set(None);
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

    fn visit_str<E>(self, text: &str) -> Result<MessageId, E> {
        // Others may be ids that users chose, which are not known to be new.
        let reading = READING.get().filter(|_| text.len() == Hyphenated::LENGTH);
        if let Some(fresh) = reading {
            READING.set(Some(fresh + 1));
        }
        Ok(MessageId {
            text: text.to_owned(),
            fresh: reading.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[test]
    fn a_copy_of_a_fresh_id_is_not_fresh() {
        let id = MessageId::generate_fresh();
        assert!(!id.clone().is_fresh());
        let text = serde_json::to_string(&id).unwrap();
        assert!(!serde_json::from_str::<MessageId>(&text).unwrap().is_fresh());
        let mut moved = id;
        assert!(moved.is_fresh());
        moved.settle();
        assert!(!moved.is_fresh());
        assert!(!MessageId::generate().is_fresh());
    }

    #[test]
    fn ids_are_read_as_fresh_only_while_that_is_wanted() {
        let message = Message::user("hi").with_id(MessageId::generate());
        let text = serde_json::to_string(&message).unwrap();
        let read = || serde_json::from_str::<Message>(&text).unwrap().id.unwrap();
        assert!(!read().is_fresh());
        let reading = Reading::begin();
        assert!(read().is_fresh());
        assert_eq!(reading.end(), 1);
        assert!(!read().is_fresh());
    }

    #[test]
    fn ids_are_unique_and_increase() {
        let ids: Vec<_> = (0..10_000).map(|_| MessageId::generate()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
}
