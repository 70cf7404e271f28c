//! Generated ids of messages, and the mark of a fresh id.
//!
//! A generated id exists nowhere else, so the reducer need not search the history for it. But
//! between fixing the ids of an update and merging it, a message is just an id and a kind. The mark
//! of a fresh id is the spare capacity of its `String`: an odd number of bytes that nobody requests
//! by accident.
//!
//! - The mark moves with the message. Cloning or serializing the message loses it, so a copy of a
//!   fresh message never counts as fresh.
//! - Fixing the ids of an update removes the mark from every id that exists already. So a message
//!   that leaves a state and enters again never counts as fresh.
//! - Merging removes the mark, so no state holds one.
//!
//! Losing the mark costs a search of the history and changes no result: an unknown id is appended
//! too. A reader that merges stored updates again, and knows the earlier ids, can mark ids as they
//! are [read](Reading).

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

const FRESH_CAPACITY: usize = Hyphenated::LENGTH + 17;

/// Generates a UUID v7, so later ids sort after earlier ones.
pub(crate) fn new_id() -> String {
    id_with_capacity(Hyphenated::LENGTH)
}

/// Generates an id with the mark of a fresh one.
pub(crate) fn fresh_id() -> String {
    id_with_capacity(FRESH_CAPACITY)
}

/// Returns true if the id is marked as fresh: no history has it yet, so a merge appends its message
/// without a search. A copy of the id is not marked.
pub fn is_fresh(id: &String) -> bool {
    id.capacity() == FRESH_CAPACITY && id.len() == Hyphenated::LENGTH
}

/// Removes the mark from an id.
pub(crate) fn unmark(id: &mut String) {
    if is_fresh(id) {
        id.shrink_to_fit();
    }
}

thread_local! {
    /// The number of ids marked while reading; `None` while marking is off.
    static READING: Cell<Option<usize>> = const { Cell::new(None) };
}

/// While this value lives, messages read on this thread get marked ids. Its creator must remove the
/// mark, by cloning, from every message whose id is not new.
#[derive(Debug)]
#[must_use = "the marking ends with it"]
pub struct Reading(());

impl Reading {
    /// Begins the marking.
    pub fn begin() -> Self {
        READING.set(Some(0));
        Self(())
    }

    /// Ends the marking, and returns the number of marked ids.
    pub fn end(self) -> usize {
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

/// An id from storage, marked if marking is on.
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
    let text = langgraph_ids::new_id()
        .hyphenated()
        .encode_lower(&mut buffer);
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
        unmark(&mut moved);
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
