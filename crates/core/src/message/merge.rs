//! `add_messages`: merges an update into a chat history.
//!
//! A reducer takes its steps: [`prepare`] fixes the ids of an update when it enters, and [`merge`]
//! or [`try_merge`] merges it, where it is.

use std::collections::HashMap;
use std::convert::Infallible;

use super::{Message, MessageKind};

/// Merges an update into a chat history, by message id.
///
/// - A message whose id is in the history replaces that message in place.
/// - Any other message is appended, in the order of the update.
/// - [`MessageKind::Remove`] removes the message with its id, if any. Adding the id again in the
///   same update puts the new message at the old place.
/// - [`MessageKind::RemoveAll`] empties the history; later messages of the update are merged into
///   the empty one, and earlier ones are dropped.
/// - A message without an id gets one, on both sides.
///
/// This is LangGraph's `add_messages` with two differences. Removing an unknown id does nothing
/// (`add_messages_strict` refuses it), and messages after a
/// `RemoveAll` are merged by id too. If the history holds an id twice, an update replaces the last
/// one, as in LangGraph.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, add_messages};
///
/// let history = vec![Message::user("hi").with_id("1"), Message::assistant("…").with_id("2")];
/// let update = vec![Message::assistant("hello").with_id("2"), Message::user("bye")];
///
/// let history = add_messages(history, update);
/// let texts: Vec<_> = history.iter().map(|message| message.text()).collect();
/// assert_eq!(texts, ["hi", "hello", "bye"]);
/// assert!(history.iter().all(|message| message.id.is_some()));
/// ```
#[must_use]
pub fn add_messages(mut current: Vec<Message>, mut update: Vec<Message>) -> Vec<Message> {
    give_missing_ids(&mut current);
    prepare(&mut update);
    merge(&mut current, update);
    current
}

/// Gives an id to every message of an update without one, which is then [fresh](Message::is_fresh), and settles
/// the others: they may have been in a history before.
pub(crate) fn prepare(update: &mut [Message]) {
    for message in update {
        message.settle();
        message.give_missing_id();
    }
}

/// Gives an id to every message of a history that has none.
pub(crate) fn give_missing_ids(messages: &mut [Message]) {
    for message in messages {
        message.give_missing_id();
        message.settle();
    }
}

/// Merges an update into a history, in place. Messages of the update without an id get one.
pub(crate) fn merge(current: &mut Vec<Message>, update: Vec<Message>) {
    let ignore = |_: &Message| Ok::<(), Infallible>(());
    match try_merge(current, update, ignore) {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// Merges as [`merge`] does. `unknown` handles a removal of an unknown id.
///
/// # Errors
///
/// The first error of `unknown`. The history then has what stood before it in the update.
pub(crate) fn try_merge<E>(
    current: &mut Vec<Message>,
    mut update: Vec<Message>,
    unknown: impl Fn(&Message) -> Result<(), E>,
) -> Result<(), E> {
    let mut only_new = true;
    for message in &mut update {
        message.give_missing_id();
        only_new &= is_new(message);
    }
    if only_new {
        update.iter_mut().for_each(Message::settle);
        current.append(&mut update);
        return Ok(());
    }

    let last_clear = update
        .iter()
        .rposition(|message| matches!(message.kind, MessageKind::RemoveAll));
    if let Some(last_clear) = last_clear {
        current.clear();
        update.drain(..=last_clear);
    }

    let mut index = Index::of(&update);
    index.locate(current, &update);

    for position in 0..update.len() {
        let Some(message) = update.get(position) else {
            break;
        };
        if matches!(message.kind, MessageKind::Remove) {
            // The message stays in the update: its id is needed when removed messages are taken
            // out.
            match index.slot_mut(current, &update, position) {
                Some(slot) if slot.at.is_some() => slot.removed_by = Some(position),
                _ => update.get(position).map_or(Ok(()), &unknown)?,
            }
            continue;
        }
        let end = current.len();
        let mut at = None;
        if let Some(slot) = index.slot_mut(current, &update, position) {
            at = slot.at;
            slot.at = at.or(Some(end));
            slot.removed_by = None;
        }
        match at.and_then(|at| current.get_mut(at)) {
            Some(place) => *place = message.clone(),
            None => current.push(message.clone()),
        }
    }

    if index.slots().iter().any(|slot| slot.removed_by.is_some()) {
        current.retain(|message| !index.removes(message, &update));
    }
    Ok(())
}

/// Returns true for a message that only needs appending, because its id is fresh.
fn is_new(message: &Message) -> bool {
    message.is_fresh() && !message.is_removal()
}

/// The facts about one id of an update.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The first message of the update with this id.
    first: usize,
    /// The last message of the history with this id.
    at: Option<usize>,
    /// The message of the update that removes it, unless a later one brings it back.
    removed_by: Option<usize>,
}

impl Slot {
    /// Returns the id.
    fn id<'a>(&self, current: &'a [Message], update: &'a [Message]) -> Option<&'a str> {
        let message = match self.at {
            Some(at) => current.get(at),
            None => update.get(self.first),
        };
        message?.id.as_deref()
    }
}

/// Up to this many ids are compared one by one, without allocating; more use a map.
const FEW: usize = 16;

/// The distinct ids of an update, without fresh ones, which need no search.
#[expect(clippy::large_enum_variant)] // lives on the stack, for one merge
enum Index {
    Few {
        slots: [Slot; FEW],
        used: usize,
    },
    Many {
        slots: Vec<Slot>,
        by_id: HashMap<String, usize>,
    },
}

impl Index {
    fn of(update: &[Message]) -> Self {
        let mut slots = [Slot::default(); FEW];
        let mut used = 0;
        for (first, id) in given_ids(update) {
            let known = slots.iter().take(used);
            if known
                .into_iter()
                .any(|slot| slot.id(&[], update) == Some(id))
            {
                continue;
            }
            let Some(slot) = slots.get_mut(used) else {
                return Self::of_many(update);
            };
            slot.first = first;
            used += 1;
        }
        Self::Few { slots, used }
    }

    fn of_many(update: &[Message]) -> Self {
        let mut slots = Vec::new();
        let mut by_id = HashMap::new();
        for (first, id) in given_ids(update) {
            if !by_id.contains_key(id) {
                by_id.insert(id.to_owned(), slots.len());
                slots.push(Slot {
                    first,
                    ..Slot::default()
                });
            }
        }
        Self::Many { slots, by_id }
    }

    fn slots(&self) -> &[Slot] {
        match self {
            Self::Few { slots, used } => slots.get(..*used).unwrap_or_default(),
            Self::Many { slots, .. } => slots,
        }
    }

    fn slots_mut(&mut self) -> &mut [Slot] {
        match self {
            Self::Few { slots, used } => slots.get_mut(..*used).unwrap_or_default(),
            Self::Many { slots, .. } => slots,
        }
    }

    fn find(&self, id: &str, current: &[Message], update: &[Message]) -> Option<usize> {
        match self {
            Self::Few { .. } => {
                let mut slots = self.slots().iter();
                slots.position(|slot| slot.id(current, update) == Some(id))
            }
            Self::Many { by_id, .. } => by_id.get(id).copied(),
        }
    }

    /// Returns the slot of a message of the update. A fresh message has one only if a copy of it
    /// follows.
    fn slot_mut(
        &mut self,
        current: &[Message],
        update: &[Message],
        position: usize,
    ) -> Option<&mut Slot> {
        let id = update.get(position)?.id.as_deref()?;
        let found = self.find(id, current, update)?;
        self.slots_mut().get_mut(found)
    }

    /// Searches the history for the ids, from its end, where most edits are, and no further than
    /// needed.
    fn locate(&mut self, current: &[Message], update: &[Message]) {
        let mut missing = self.slots().len();
        let wanted = given_ids(update).fold(0, |bits, (_, id)| bits | bit_of(id));
        for (at, message) in current.iter().enumerate().rev() {
            if missing == 0 {
                break;
            }
            #[cfg(test)]
            tests::count_look();
            let id = message.id.as_deref();
            let Some(id) = id.filter(|id| wanted & bit_of(id) != 0) else {
                continue;
            };
            let Some(found) = self.find(id, current, update) else {
                continue;
            };
            if let Some(slot) = self.slots_mut().get_mut(found)
                && slot.at.is_none()
            {
                slot.at = Some(at);
                missing -= 1;
            }
        }
    }

    fn removes(&self, message: &Message, update: &[Message]) -> bool {
        let Some(id) = message.id.as_deref() else {
            return false;
        };
        match self {
            Self::Few { .. } => self.slots().iter().any(|slot| {
                let removal = slot.removed_by.and_then(|position| update.get(position));
                removal.is_some_and(|removal| removal.id.as_deref() == Some(id))
            }),
            Self::Many { slots, by_id } => {
                let slot = by_id.get(id).and_then(|found| slots.get(*found));
                slot.is_some_and(|slot| slot.removed_by.is_some())
            }
        }
    }
}

fn given_ids(update: &[Message]) -> impl Iterator<Item = (usize, &str)> {
    update.iter().enumerate().filter_map(|(position, message)| {
        let id = message.id.as_ref().filter(|_| !message.is_fresh())?;
        Some((position, id.as_str()))
    })
}

/// Maps the end of an id, where ids differ, to one bit of 64. So the search skips most of a history
/// without comparing text.
fn bit_of(id: &str) -> u64 {
    let end = id.bytes().rev().take(2);
    let hash = end.fold(0_u16, |hash, byte| hash << 8 | u16::from(byte));
    1 << (hash.wrapping_mul(0x9e37) >> 10)
}

#[cfg(test)]
mod tests;
