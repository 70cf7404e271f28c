//! The snapshots that a worker has.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// How many snapshots a worker keeps: one for each driver that it works for, and some that end.
const KEPT: usize = 8;

/// A snapshot, once it is fetched.
type Cell<S> = Arc<OnceCell<Arc<S>>>;

/// The newest snapshots, each fetched once.
#[derive(Debug)]
pub(crate) struct Snapshots<S> {
    kept: Mutex<VecDeque<(String, Cell<S>)>>,
}

impl<S> Default for Snapshots<S> {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
        }
    }
}

impl<S> Snapshots<S> {
    /// Returns the cell of a snapshot.
    pub(crate) fn cell(&self, id: &str) -> Cell<S> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(known, _)| known == id)
            && let Some(found) = kept.remove(at)
        {
            let cell = Arc::clone(&found.1);
            kept.push_back(found);
            return cell;
        }
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        let cell = Arc::default();
        kept.push_back((id.to_owned(), Arc::clone(&cell)));
        cell
    }
}
