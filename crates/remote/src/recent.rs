//! A memory of recent values, of bounded size.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

/// The last values that were added.
#[derive(Clone, Debug)]
pub(crate) struct Recent<T> {
    order: VecDeque<T>,
    members: HashSet<T>,
    capacity: usize,
}

impl<T: Clone + Eq + Hash> Recent<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            order: VecDeque::new(),
            members: HashSet::new(),
            capacity,
        }
    }

    pub(crate) fn add(&mut self, value: T) {
        if self.members.insert(value.clone()) {
            self.order.push_back(value);
        }
        if self.order.len() > self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.members.remove(&oldest);
        }
    }

    pub(crate) fn contains(&self, value: &T) -> bool {
        self.members.contains(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut recent = Recent::new(2);
        for value in [1, 2, 2, 3] {
            recent.add(value);
        }
        assert!(!recent.contains(&1) && recent.contains(&2) && recent.contains(&3));
        assert_eq!(recent.members.len(), recent.order.len());
    }
}
