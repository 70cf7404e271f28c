//! Reducers for chat histories.

use super::{Reducer, ReducerError};
use crate::message::merge::{fix_ids, fixed, give_ids, merge_into, merge_leniently};
use crate::message::{Message, add_messages, ids};

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
    update: Vec<Message>,
) -> Result<Vec<Message>, ReducerError> {
    give_ids(&mut current, ids::new_id);
    merge_into(&mut current, fixed(update), refuse)?;
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
        mut update: Vec<Message>,
    ) -> Result<(), ReducerError> {
        give_ids(&mut update, ids::fresh_id);
        merge_leniently(current, update);
        Ok(())
    }

    fn prepare(&self, update: &mut Vec<Message>) {
        fix_ids(update);
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
        mut update: Vec<Message>,
    ) -> Result<(), ReducerError> {
        give_ids(&mut update, ids::fresh_id);
        merge_into(current, update, refuse)
    }

    fn prepare(&self, update: &mut Vec<Message>) {
        fix_ids(update);
    }
}

fn refuse(removal: &Message) -> Result<(), ReducerError> {
    Err(ReducerError::new(match &removal.id {
        Some(id) => format!("there is no message `{id}` to remove"),
        None => "a `Remove` message names the message to remove by its id, found none".to_owned(),
    }))
}
