//! What the nodes of a case note about themselves: how often each was started.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// Counts the starts of nodes.
#[derive(Debug, Default)]
pub(super) struct World(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// In the whole case.
    ever: BTreeMap<String, u64>,
    /// In this action.
    now: BTreeMap<String, u64>,
}

impl World {
    /// Notes a start, and says how many there were in this case.
    pub(super) fn start(&self, path: &str) -> u64 {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.now.entry(path.to_owned()).or_default() += 1;
        let ever = counts.ever.entry(path.to_owned()).or_default();
        *ever += 1;
        *ever
    }

    /// What was started since the last call.
    pub(super) fn take(&self) -> Value {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = std::mem::take(&mut counts.now);
        Value::Object(now.into_iter().map(|(k, n)| (k, Value::from(n))).collect())
    }
}
