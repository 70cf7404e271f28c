//! Which message ids have come up in a log that is read.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::message::is_fresh;
use crate::node::{Write, whole};
use crate::state::State;

/// The ids of the messages that the updates of a log have brought so far.
///
/// An id that comes up for the first time is in no history yet, so merging its message again need
/// not look for it: reading a thread of many messages costs what it holds, and not its square.
#[derive(Default)]
pub(super) struct KnownIds {
    /// Of the ids. Two with the same hash only cost a look.
    hashes: HashSet<u64, BuildHasherDefault<Hashed>>,
}

/// The hash of what is a hash already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl KnownIds {
    /// Notes the ids of a state that stands in the log.
    pub(super) fn add_state<S: State>(&mut self, state: &S) {
        self.add::<S>(&whole(state));
    }

    /// Notes the ids of writes that were read while ids were marked, and says whether the marks,
    /// so many of them, are right: whether all of these ids are new.
    pub(super) fn are_new<'a, S: State>(
        &mut self,
        marked: usize,
        writes: impl IntoIterator<Item = &'a [Write<S>]>,
    ) -> bool {
        let (mut new, mut seen) = (true, 0);
        for write in writes.into_iter().flatten() {
            let (fresh, all_new) = match write {
                Write::Update(update) => self.add::<S>(update),
                // What is set as a whole keeps no marks.
                Write::Overwrite(update) => (self.add::<S>(update).0, false),
                Write::State(state) => (self.add::<S>(&whole(&**state)).0, false),
            };
            seen += fresh;
            new &= all_new;
        }
        // A state may not show all of its messages; those have marks that nobody has looked at.
        new && seen == marked
    }

    /// How many of the messages have a mark, and whether all ids are new.
    fn add<S: State>(&mut self, update: &S::Update) -> (usize, bool) {
        let (mut fresh, mut new) = (0, true);
        S::messages(update, &mut |message| {
            if let Some(id) = &message.id {
                let mut hasher = DefaultHasher::new();
                id.hash(&mut hasher);
                new &= self.hashes.insert(hasher.finish());
                fresh += usize::from(is_fresh(id));
            }
        });
        (fresh, new)
    }
}
