//! The tasks of a server.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph_remote::AgentId;

use crate::task::Entry;

/// The tasks that are kept: those at work, those that wait for an answer, and the last that ended.
#[derive(Default)]
pub(crate) struct Tasks {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    by_id: HashMap<String, Arc<Entry>>,
    /// In the order of their beginning.
    order: VecDeque<String>,
    /// Which task a message began: a repeated message begins no other.
    by_message: HashMap<(AgentId, String), String>,
    messages: VecDeque<(AgentId, String)>,
}

/// The limits of a server's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskLimits {
    pub(crate) running: usize,
    pub(crate) kept: usize,
    pub(crate) bytes: usize,
}

impl Tasks {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a task, if it is the caller's.
    pub(crate) fn get(&self, id: &str, owner: &AgentId) -> Option<Arc<Entry>> {
        let entry = self.table().by_id.get(id).cloned();
        entry.filter(|entry| entry.owner == *owner)
    }

    /// Returns the task that this message began.
    pub(crate) fn begun_by(&self, message: &str, owner: &AgentId) -> Option<Arc<Entry>> {
        let table = self.table();
        let id = table.by_message.get(&(owner.clone(), message.to_owned()))?;
        table.by_id.get(id).cloned()
    }

    /// Adds a task, or the message that continues one. Returns false if too many are at work, and
    /// the ids of those that are no longer kept.
    pub(crate) fn add(
        &self,
        entry: &Arc<Entry>,
        message: &str,
        limits: TaskLimits,
    ) -> Result<Vec<String>, ()> {
        let mut table = self.table();
        let known = table.by_id.contains_key(&entry.id);
        let entries = table.by_id.values();
        let at_work = entries.filter(|entry| !crate::task::rests(&entry.state()));
        if at_work.count() >= limits.running {
            return Err(());
        }
        let key = (entry.owner.clone(), message.to_owned());
        table.by_message.insert(key.clone(), entry.id.clone());
        table.messages.push_back(key);
        if !known {
            table.by_id.insert(entry.id.clone(), Arc::clone(entry));
            table.order.push_back(entry.id.clone());
        }
        Ok(table.forget(limits))
    }

    /// Returns the tasks of an owner, the latest first.
    pub(crate) fn of(&self, owner: &AgentId) -> Vec<Arc<Entry>> {
        let table = self.table();
        let latest = table.order.iter().rev();
        latest
            .filter_map(|id| table.by_id.get(id))
            .filter(|entry| entry.owner == *owner)
            .cloned()
            .collect()
    }
}

impl Table {
    /// Forgets the oldest tasks that rest, as long as there are too many.
    fn forget(&mut self, limits: TaskLimits) -> Vec<String> {
        let mut forgotten = Vec::new();
        let mut bytes: usize = self.by_id.values().map(|entry| entry.bytes()).sum();
        let mut place = 0;
        while self.by_id.len() > limits.kept || bytes > limits.bytes {
            let Some(id) = self.order.get(place) else {
                break;
            };
            let rests = self
                .by_id
                .get(id)
                .map(|entry| (entry.bytes(), entry.state()));
            match rests {
                Some((_, state)) if !crate::task::rests(&state) => place += 1,
                known => {
                    bytes = bytes.saturating_sub(known.map_or(0, |(bytes, _)| bytes));
                    if let Some(id) = self.order.remove(place) {
                        self.by_id.remove(&id);
                        forgotten.push(id);
                    }
                }
            }
        }
        while self.messages.len() > limits.kept.saturating_mul(4) {
            if let Some(oldest) = self.messages.pop_front() {
                self.by_message.remove(&oldest);
            }
        }
        forgotten
    }
}
