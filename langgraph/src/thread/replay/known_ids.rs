//! The message ids that a log has contained so far.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use uuid::fmt::Hyphenated;

use crate::node::whole;
use crate::state::{State, Write};

/// The ids of the messages in the updates of a log so far.
///
/// An id that occurs for the first time is in no history yet, so merging its message needs no
/// search. So the time to read a thread is linear in its messages, not quadratic.
#[derive(Default)]
pub(crate) struct KnownIds {
    /// Ids with the length of generated ids that arrived in sorted order, as generated ids do.
    ordered: Vec<[u8; Hyphenated::LENGTH]>,
    /// Hashes of the other ids. A collision only costs a search.
    hashes: HashSet<u64>,
}

impl KnownIds {
    /// Adds the ids of a state in the log.
    pub(crate) fn add_state<S: State>(&mut self, state: &S) {
        self.add::<S>(&whole(state));
    }

    /// Adds the ids of a state that was read as an update.
    pub(crate) fn add_update<S: State>(&mut self, update: &S::Update) {
        self.add::<S>(update);
    }

    /// Adds the ids of writes that were read as fresh, `read` of them, and returns whether all are new.
    pub(crate) fn are_new<'a, S: State>(
        &mut self,
        read: usize,
        writes: impl IntoIterator<Item = &'a [Write<S>]>,
    ) -> bool {
        let (mut new, mut seen) = (true, 0);
        for write in writes.into_iter().flatten() {
            let (fresh, all_new) = match write {
                Write::Update(update) => self.add::<S>(update),
                // An overwritten field keeps no fresh ids.
                Write::Overwrite(update) => (self.add::<S>(update).0, false),
                Write::State(state) => (self.add::<S>(&whole(&**state)).0, false),
            };
            seen += fresh;
            new &= all_new;
        }
        // A state may hide some of its messages, whose ids are not checked.
        new && seen == read
    }

    /// Returns how many of the messages have a fresh id, and whether all ids are new.
    fn add<S: State>(&mut self, update: &S::Update) -> (usize, bool) {
        let (mut fresh, mut new) = (0, true);
        S::messages(update, &mut |message| {
            if let Some(id) = &message.id {
                new &= self.insert(id);
            }
            fresh += usize::from(message.is_fresh());
        });
        (fresh, new)
    }

    /// Adds an id; returns false if it was known.
    fn insert(&mut self, id: &str) -> bool {
        if let Ok(id) = id.as_bytes().try_into() {
            if self.ordered.last().is_none_or(|last| last < id) {
                self.ordered.push(*id);
                return true;
            }
            if self.ordered.binary_search(id).is_ok() {
                return false;
            }
        }
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        self.hashes.insert(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_new_once() {
        let uuid = |n: u32| uuid::Uuid::from_u128(n.into()).to_string();
        let mut ids: Vec<_> = (0..200).map(uuid).collect();
        ids.extend((0..100).map(|n| format!("given {n}")));
        let mut random = fastrand::Rng::with_seed(7);
        for shuffled in 0..50 {
            if shuffled > 0 {
                random.shuffle(&mut ids);
            }
            let mut known = KnownIds::default();
            let mut seen = HashSet::new();
            for _ in 0..1_000 {
                let id = &ids[random.usize(..ids.len())];
                assert_eq!(known.insert(id), seen.insert(id), "{id}");
            }
        }
    }
}
