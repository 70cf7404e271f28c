//! How much each owner has at a time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts what owners have: runs, streams.
#[derive(Clone, Debug, Default)]
pub(crate) struct PerOwner(Arc<Mutex<BTreeMap<String, usize>>>);

/// One more of an owner, as long as it is held.
#[derive(Debug)]
pub(crate) struct Counted {
    counts: PerOwner,
    owner: String,
}

impl PerOwner {
    fn map(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more.
    pub(crate) fn count(&self, owner: &str) -> Counted {
        *self.map().entry(owner.to_owned()).or_default() += 1;
        Counted {
            counts: self.clone(),
            owner: owner.to_owned(),
        }
    }

    /// Counts one more, unless the owner has that many.
    pub(crate) fn count_below(&self, owner: &str, limit: usize) -> Option<Counted> {
        {
            let mut map = self.map();
            let count = map.entry(owner.to_owned()).or_default();
            if *count >= limit {
                return None;
            }
            *count += 1;
        }
        Some(Counted {
            counts: self.clone(),
            owner: owner.to_owned(),
        })
    }

    /// Returns the owners that have that many.
    pub(crate) fn full(&self, limit: usize) -> Vec<String> {
        let map = self.map();
        let full = map.iter().filter(|(_, count)| **count >= limit);
        full.map(|(owner, _)| owner.clone()).collect()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut map = self.counts.map();
        if let Some(count) = map.get_mut(&self.owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                map.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_is_counted_alone() {
        let counts = PerOwner::default();
        let first = counts.count_below("ada", 1);
        assert!(first.is_some() && counts.count_below("ada", 1).is_none());
        assert!(counts.count_below("ben", 1).is_some());
        assert_eq!(counts.full(1), ["ada"]);
        drop(first);
        assert!(counts.map().is_empty());
        assert!(counts.count_below("ada", 1).is_some());
    }
}
