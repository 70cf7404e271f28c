//! Reducers that keep a chat history.

use super::{Reducer, ReducerError};
use crate::message::merge::{fix_ids, fixed, give_ids, merge_into, merge_leniently};
use crate::message::{Message, add_messages, ids};

/// [`add_messages`] that refuses to remove a message that is not there.
///
/// # Errors
///
/// [`ReducerError`] naming the id, when a [`MessageKind::Remove`](crate::message::MessageKind::Remove) finds no message of its id.
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
/// The ids of an update are fixed when it enters ([`Reducer::prepare`]), so
/// [`try_merge`](Reducer::try_merge) leaves messages without an id that are in the history as they
/// are. Appending messages whose ids were made up costs what is appended, however long the history
/// is; an update with ids of its own costs one scan of the history.
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
/// [`try_merge`](Reducer::try_merge), which the runtime calls, refuses to remove a message that is
/// not there.
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
