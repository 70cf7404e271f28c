//! The ids that are made up for messages without one, and how the reducer knows them.
//!
//! A message id that was made up a moment ago occurs nowhere else, so the reducer need not look
//! for it in the history. But between the moment when ids are fixed on an update and the moment
//! when the update is merged, a message is just an id and a kind. What tells a fresh id from one
//! that was given is the spare capacity of its `String`, an odd number of bytes that nobody asks
//! for by accident:
//!
//! - it moves with the message, and is lost when the message is cloned or serialized, so a copy of
//!   a fresh message is never taken for fresh;
//! - fixing the ids of an update takes the mark from every id that it finds there, so what came
//!   out of a state and goes in again is never taken for fresh;
//! - merging takes the mark, so no state holds one.
//!
//! Losing the mark costs a scan of the history and changes no result: an id that is not found is
//! appended too. Whoever merges stored updates again, and knows the ids that came before, can have
//! them marked as they are [read](Reading).

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

const FRESH_CAPACITY: usize = Hyphenated::LENGTH + 17;

/// A new id: a UUID v7, so later ids sort after earlier ones.
pub(crate) fn new_id() -> String {
    id_with_capacity(Hyphenated::LENGTH)
}

/// A new id, marked as one that no history holds yet.
pub(crate) fn fresh_id() -> String {
    id_with_capacity(FRESH_CAPACITY)
}

/// Whether the id is marked as one that no history holds yet.
pub(crate) fn is_fresh(id: &String) -> bool {
    id.capacity() == FRESH_CAPACITY && id.len() == Hyphenated::LENGTH
}

/// Takes the mark from an id.
pub(crate) fn settle(id: &mut String) {
    if is_fresh(id) {
        id.shrink_to_fit();
    }
}

thread_local! {
    /// How many ids were marked as they were read; none while they are not.
    static READING: Cell<Option<usize>> = const { Cell::new(None) };
}

/// While this lives, messages that are read on this thread have marked ids. Whoever has it made
/// takes the mark, by cloning, from every message whose id is not new after all.
pub(crate) struct Reading(());

impl Reading {
    pub(crate) fn begin() -> Self {
        READING.set(Some(0));
        Self(())
    }

    /// Ends it, and says how many ids were marked.
    pub(crate) fn end(self) -> usize {
        let marked = READING.get().unwrap_or(0);
        drop(self);
        marked
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        READING.set(None);
    }
}

/// An id as it is read: marked, if that is wanted.
pub(crate) struct ReadId(pub(crate) String);

impl<'de> Deserialize<'de> for ReadId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ReadIdVisitor).map(Self)
    }
}

struct ReadIdVisitor;

impl Visitor<'_> for ReadIdVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a message")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        let marked = READING.get().filter(|_| text.len() == Hyphenated::LENGTH);
        let Some(marked) = marked else {
            return Ok(text.to_owned());
        };
        let mut id = String::with_capacity(FRESH_CAPACITY);
        id.push_str(text);
        if is_fresh(&id) {
            READING.set(Some(marked + 1));
        }
        Ok(id)
    }
}

fn id_with_capacity(capacity: usize) -> String {
    let mut buffer = Uuid::encode_buffer();
    let text = Uuid::now_v7().hyphenated().encode_lower(&mut buffer);
    let mut id = String::with_capacity(capacity);
    id.push_str(text);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_moves_and_is_not_copied() {
        let id = fresh_id();
        assert!(!is_fresh(&id.clone()));
        assert!(!is_fresh(
            &serde_json::from_str(&serde_json::to_string(&id).unwrap()).unwrap()
        ));
        let mut moved = id;
        assert!(is_fresh(&moved));
        settle(&mut moved);
        assert!(!is_fresh(&moved));
        assert!(!is_fresh(&new_id()));
    }

    #[test]
    fn ids_are_marked_only_while_that_is_wanted() {
        let text = serde_json::to_string(&crate::message::Message::user("hi").with_id(new_id()));
        let text = text.unwrap();
        let read = || {
            serde_json::from_str::<crate::message::Message>(&text)
                .unwrap()
                .id
        };
        assert!(!is_fresh(&read().unwrap()));
        let reading = Reading::begin();
        assert!(is_fresh(&read().unwrap()));
        assert_eq!(reading.end(), 1);
        assert!(!is_fresh(&read().unwrap()));
    }

    #[test]
    fn ids_are_unique_and_increase() {
        let ids: Vec<String> = (0..10_000).map(|_| new_id()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
}
