//! `add_messages`: merges an update into a chat history.
//!
//! A reducer takes its steps: [`prepare`] fixes the ids of an update when it enters, and [`merge`]
//! or [`try_merge`] merges it, where it is.

use std::collections::HashMap;
use std::convert::Infallible;

use super::{Message, MessageId, MessageKind};

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

/// Takes the generated ids from the messages that an update adds to `current`, so that the update can be merged more
/// than once: each time they are new messages. An id that the update has twice stays, such as that of a removal.
pub(crate) fn forget_new_ids(current: &[Message], update: &mut [Message]) {
    let mut uses: HashMap<MessageId, usize> = HashMap::new();
    for id in update.iter().filter_map(|message| message.id.as_ref()) {
        *uses.entry(id.clone()).or_default() += 1;
    }
    uses.retain(|id, uses| *uses == 1 && id.looks_generated());
    if uses.is_empty() {
        return;
    }
    for known in current.iter().filter_map(|message| message.id.as_ref()) {
        uses.remove(known);
    }
    for message in update.iter_mut().filter(|message| !message.is_removal()) {
        if message.id.as_ref().is_some_and(|id| uses.contains_key(id)) {
            message.id = None;
        }
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
    index.locate(current);

    for message in &update {
        let slot = message.id.as_deref().and_then(|id| index.slot_mut(id));
        if matches!(message.kind, MessageKind::Remove) {
            match slot {
                Some(slot) if slot.at.is_some() => slot.removed = true,
                _ => unknown(message)?,
            }
            continue;
        }
        let end = current.len();
        let at = slot.and_then(|slot| {
            slot.removed = false;
            let at = slot.at;
            slot.at = at.or(Some(end));
            at
        });
        match at.and_then(|at| current.get_mut(at)) {
            Some(place) => *place = message.clone(),
            None => current.push(message.clone()),
        }
    }

    if index.slots().iter().any(|slot| slot.removed) {
        current.retain(|message| !index.removes(message));
    }
    Ok(())
}

/// Returns true for a message that only needs appending, because its id is fresh.
fn is_new(message: &Message) -> bool {
    message.is_fresh() && !message.is_removal()
}

/// The facts about one id of an update.
#[derive(Clone, Copy, Debug, Default)]
struct Slot<'a> {
    id: &'a str,
    /// The last message of the history with this id.
    at: Option<usize>,
    /// True if the update removes the message and does not bring it back.
    removed: bool,
}

/// Up to this many ids are compared one by one, without allocating; more use a map.
const FEW: usize = 16;

/// The distinct ids of an update, without fresh ones, which need no search.
#[expect(clippy::large_enum_variant)] // lives on the stack, for one merge
enum Index<'a> {
    Few {
        slots: [Slot<'a>; FEW],
        used: usize,
    },
    Many {
        slots: Vec<Slot<'a>>,
        by_id: HashMap<&'a str, usize>,
    },
}

impl<'a> Index<'a> {
    fn of(update: &'a [Message]) -> Self {
        let mut slots = [Slot::default(); FEW];
        let mut used = 0;
        for id in given_ids(update) {
            if slots.iter().take(used).any(|slot| slot.id == id) {
                continue;
            }
            let Some(slot) = slots.get_mut(used) else {
                return Self::of_many(update);
            };
            slot.id = id;
            used += 1;
        }
        Self::Few { slots, used }
    }

    fn of_many(update: &'a [Message]) -> Self {
        let mut slots = Vec::new();
        let mut by_id = HashMap::new();
        for id in given_ids(update) {
            by_id.entry(id).or_insert_with(|| {
                slots.push(Slot {
                    id,
                    ..Slot::default()
                });
                slots.len() - 1
            });
        }
        Self::Many { slots, by_id }
    }

    fn slots(&self) -> &[Slot<'a>] {
        match self {
            Self::Few { slots, used } => slots.get(..*used).unwrap_or_default(),
            Self::Many { slots, .. } => slots,
        }
    }

    fn find(&self, id: &str) -> Option<usize> {
        match self {
            Self::Few { .. } => self.slots().iter().position(|slot| slot.id == id),
            Self::Many { by_id, .. } => by_id.get(id).copied(),
        }
    }

    /// Returns the slot of an id. The id of a fresh message has one only if a copy of the message follows.
    fn slot_mut(&mut self, id: &str) -> Option<&mut Slot<'a>> {
        let found = self.find(id)?;
        match self {
            Self::Few { slots, .. } => slots.get_mut(found),
            Self::Many { slots, .. } => slots.get_mut(found),
        }
    }

    /// Searches the history for the ids, from its end, where most edits are, and no further than
    /// needed.
    fn locate(&mut self, current: &[Message]) {
        let mut missing = self.slots().len();
        let ids = self.slots().iter().map(|slot| bit_of(slot.id));
        let wanted = ids.fold(0, |bits, bit| bits | bit);
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
            if let Some(slot) = self.slot_mut(id)
                && slot.at.is_none()
            {
                slot.at = Some(at);
                missing -= 1;
            }
        }
    }

    fn removes(&self, message: &Message) -> bool {
        let found = message.id.as_deref().and_then(|id| self.find(id));
        let slot = found.and_then(|found| self.slots().get(found));
        slot.is_some_and(|slot| slot.removed)
    }
}

fn given_ids(update: &[Message]) -> impl Iterator<Item = &str> {
    let given = update.iter().filter(|message| !message.is_fresh());
    given.filter_map(|message| message.id.as_deref())
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
