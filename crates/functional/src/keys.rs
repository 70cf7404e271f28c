//! What threads remember of an entrypoint by a key: its tasks, and its interrupts and theirs.

use langgraph::graph::{KeyInfo, KeyKind};

/// The keys that have been found.
#[derive(Debug, Default)]
pub struct Keys {
    pub(crate) found: Vec<KeyInfo>,
}

impl Keys {
    /// Adds a key.
    pub fn add(&mut self, key: KeyInfo) {
        self.found.push(key);
    }

    /// Returns true if a task has been added.
    pub(crate) fn has_task(&self, name: &str) -> bool {
        let mut tasks = self.found.iter().filter(|key| key.kind == KeyKind::Task);
        tasks.any(|key| key.key == name)
    }
}
