//! What a graph inside another keeps from one call to the next.

use std::sync::PoisonError;

use super::{Context, NodeError};

/// What a graph keeps when it runs inside another one that has a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Persistence {
    /// Its progress within one call: a resume, a retry or a new process goes on where it stood. The
    /// next call starts anew, and calls side by side know nothing of each other.
    #[default]
    PerCall,
    /// Its state too, from call to call, under that key: a thread within the thread. The input of a
    /// call is merged into it by the reducers. Calls of one key never run side by side; give each
    /// instance a key of its own.
    ///
    /// What it keeps belongs to the thread and not to its checkpoints: a run from an older checkpoint
    /// of the thread finds it as the newest call left it. A graph over the state of the graph around
    /// it is given all of that state as the input of each call, so that what is appended there is
    /// appended here again; one that keeps a list wants a state of its own, with
    /// [`mapped`](crate::CompiledStateGraph::mapped).
    PerThread(String),
    /// Nothing: a resume runs it from its beginning, with the answers there are.
    None,
}

/// The only call of a key that runs. It ends when it is dropped.
pub(crate) struct OnlyCall<'a> {
    cx: &'a Context,
    key: String,
}

impl<'a> OnlyCall<'a> {
    pub(crate) fn new(cx: &'a Context, key: &str) -> Result<Self, NodeError> {
        let running = &cx.scope().shared.kept_graphs;
        let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.insert(key.to_owned()) {
            let key = key.to_owned();
            return Ok(Self { cx, key });
        }
        Err(NodeError::msg(format!(
            "the graph that is kept under `{key}` runs already; each one that runs beside another needs a key of its own"
        )))
    }
}

impl Drop for OnlyCall<'_> {
    fn drop(&mut self) {
        let running = &self.cx.scope().shared.kept_graphs;
        let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.key);
    }
}
