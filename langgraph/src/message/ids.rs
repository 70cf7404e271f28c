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
//! appended too. That is how updates that were stored are merged again.

use uuid::Uuid;
use uuid::fmt::Hyphenated;

const FRESH_CAPACITY: usize = Hyphenated::LENGTH + 17;

/// A new id: a UUID v7, so later ids sort after earlier ones.
pub(crate) fn new_id() -> String {
    id_with_capacity(Hyphenated::LENGTH)
}

/// A new id, marked as one that no history holds yet.
pub(super) fn fresh_id() -> String {
    id_with_capacity(FRESH_CAPACITY)
}

/// Whether the id is marked as one that no history holds yet.
pub(super) fn is_fresh(id: &String) -> bool {
    id.capacity() == FRESH_CAPACITY && id.len() == Hyphenated::LENGTH
}

/// Takes the mark from an id.
pub(super) fn settle(id: &mut String) {
    if is_fresh(id) {
        id.shrink_to_fit();
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
    fn ids_are_unique_and_increase() {
        let ids: Vec<String> = (0..10_000).map(|_| new_id()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
}
