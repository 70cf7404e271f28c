//! Reducers for chat histories.

use super::Reducer;
use crate::error::ReducerError;
use crate::message::merge::{give_missing_ids, merge, prepare, try_merge};
use crate::message::{Message, add_messages};

/// [`add_messages`], but it refuses to remove an unknown message.
///
/// # Errors
///
/// [`ReducerError`] with the id, if a [`MessageKind::Remove`](crate::message::MessageKind::Remove)
/// finds no message with its id.
///
/// # Examples
///
/// ```
/// use langgraph::message::Message;
/// use langgraph::state::add_messages_strict;
///
/// let error = add_messages_strict(vec![], vec![Message::remove("9")]).unwrap_err();
/// assert!(error.reason().contains("`9`"));
/// ```
pub fn add_messages_strict(
    mut current: Vec<Message>,
    mut update: Vec<Message>,
) -> Result<Vec<Message>, ReducerError> {
    give_missing_ids(&mut current);
    prepare(&mut update);
    try_merge(&mut current, update, refuse)?;
    Ok(current)
}

/// [`add_messages`] as the reducer of a field: `#[reducer(add_messages)]`.
///
/// [`Reducer::prepare`] fixes the ids of an update when it enters. So
/// [`try_merge`](Reducer::try_merge) does not change messages of the history without an id.
/// Appending messages with generated ids costs only what it appends, however long the history is.
/// An update with ids of its own costs one search of the history.
///
/// # Examples
///
/// ```
/// use langgraph::message::Message;
/// use langgraph::state::AddMessages;
/// use langgraph::state::Reducer;
///
/// let history = AddMessages.merge(vec![], vec![Message::user("hi")]);
/// assert!(history[0].id.is_some());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AddMessages;

impl Reducer<Vec<Message>> for AddMessages {
    fn merge(&self, current: Vec<Message>, update: Vec<Message>) -> Vec<Message> {
        add_messages(current, update)
    }

    fn try_merge(
        &self,
        current: &mut Vec<Message>,
        update: Vec<Message>,
    ) -> Result<(), ReducerError> {
        merge(current, update);
        Ok(())
    }

    fn prepare(&self, update: &mut Vec<Message>) {
        prepare(update);
    }
}

/// [`add_messages_strict`] as the reducer of a field: `#[reducer(add_messages_strict)]`.
///
/// Its [`merge`](Reducer::merge), which cannot fail, is that of [`AddMessages`];
/// [`try_merge`](Reducer::try_merge), which the runtime calls, refuses to remove an unknown
/// message.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddMessagesStrict;

impl Reducer<Vec<Message>> for AddMessagesStrict {
    fn merge(&self, current: Vec<Message>, update: Vec<Message>) -> Vec<Message> {
        add_messages(current, update)
    }

    fn try_merge(
        &self,
        current: &mut Vec<Message>,
        update: Vec<Message>,
    ) -> Result<(), ReducerError> {
        try_merge(current, update, refuse)
    }

    fn prepare(&self, update: &mut Vec<Message>) {
        prepare(update);
    }
}

fn refuse(removal: &Message) -> Result<(), ReducerError> {
    Err(ReducerError::new(match &removal.id {
        Some(id) => format!("there is no message `{id}` to remove"),
        None => "a `Remove` message names the message to remove by its id, found none".to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::MessageKind;

    #[test]
    fn c6_strict_refuses_unknown_removals() {
        let history = || vec![Message::user("hi").with_id("1")];
        let refused = |update: Vec<Message>| {
            let by_function = add_messages_strict(history(), update.clone()).unwrap_err();
            let error = AddMessagesStrict
                .try_merge(&mut history(), update)
                .unwrap_err();
            assert_eq!(error.reason(), by_function.reason());
            error.reason().to_owned()
        };
        assert_eq!(
            refused(vec![Message::remove("9")]),
            "there is no message `9` to remove"
        );
        assert_eq!(
            refused(vec![MessageKind::Remove.into()]),
            "a `Remove` message names the message to remove by its id, found none"
        );
    }

    #[test]
    fn c7_the_reducer_is_the_function() {
        let update = || {
            let new = Message::user("new");
            vec![
                new.clone().with_id("2"),
                Message::remove("1"),
                new.with_id("3"),
            ]
        };
        let current = || {
            vec![
                Message::user("a").with_id("1"),
                Message::user("b").with_id("2"),
            ]
        };
        let expected = add_messages(current(), update());
        assert_eq!(AddMessages.merge(current(), update()), expected);
        let mut in_place = current();
        AddMessages.try_merge(&mut in_place, update()).unwrap();
        assert_eq!(in_place, expected);
    }
}
