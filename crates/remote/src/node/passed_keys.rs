//! The keys of the interrupts that a remote node passes on.

use std::collections::{HashMap, HashSet};

/// Gives each interrupt of an agent a key of its own in the task of the node.
#[derive(Default)]
pub(super) struct PassedKeys {
    counts: HashMap<String, usize>,
    taken: HashSet<String>,
}

impl PassedKeys {
    /// Returns the key for the next interrupt with this one: itself at first, then with a number. An agent that has
    /// asked another one may have such a key already.
    pub(super) fn own(&mut self, key: &str) -> String {
        let count = self.counts.entry(key.to_owned()).or_default();
        loop {
            *count += 1;
            let own = match *count {
                1 => key.to_owned(),
                count => format!("{key}#{count}"),
            };
            if self.taken.insert(own.clone()) {
                return own;
            }
        }
    }
}
