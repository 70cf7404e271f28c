//! Reading messages whose ids are known to be new.

use std::cell::Cell;

use uuid::fmt::Hyphenated;

use super::MessageId;

thread_local! {
    /// The number of messages read as fresh; `None` while none are.
    static READING: Cell<Option<usize>> = const { Cell::new(None) };
}

/// While this value lives, messages with generated ids that are read on this thread are fresh. Its creator must
/// settle, by cloning, every message whose id is not new.
#[derive(Debug)]
#[must_use = "messages are read as fresh while it lives"]
pub struct Reading(());

impl Reading {
    /// Begins to read messages as fresh.
    pub fn begin() -> Self {
        READING.set(Some(0));
        Self(())
    }

    /// Ends it, and returns the number of fresh messages.
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

/// Returns whether a message with this id, which was read now, is fresh, and counts it.
pub(super) fn is_fresh(id: &MessageId) -> bool {
    // Others may be ids that users chose, which are not known to be new.
    let reading = READING.get().filter(|_| id.len() == Hyphenated::LENGTH);
    if let Some(fresh) = reading {
        READING.set(Some(fresh + 1));
    }
    reading.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[test]
    fn messages_are_read_as_fresh_only_while_that_is_wanted() {
        let message = Message::user("hi").with_id(MessageId::generate());
        let text = serde_json::to_string(&message).unwrap();
        let read = || serde_json::from_str::<Message>(&text).unwrap();
        assert!(!read().is_fresh());
        let reading = Reading::begin();
        assert!(read().is_fresh());
        assert_eq!(reading.end(), 1);
        assert!(!read().is_fresh());
    }
}
