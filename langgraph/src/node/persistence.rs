//! Persistence of subgraphs between calls.

use super::Context;
use crate::error::NodeError;

/// What a subgraph on a thread persists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Persistence {
    /// Its progress within one call: a resume, a retry or a new process continues where it stopped.
    /// The next call starts anew, and parallel calls are independent.
    #[default]
    PerCall,
    /// Also its state, from call to call, under that key: a thread within the thread. The reducers
    /// merge the input of a call into the state. Calls with one key never run in parallel; give
    /// each instance a key of its own.
    ///
    /// The state belongs to the thread and not to its checkpoints: a run from an older checkpoint
    /// of the thread finds the state as the newest call left it. A graph over the parent's state
    /// gets all of that state as the input of each call, so it would append the parent's lists
    /// again. For a graph with a list, use a state of its own, with
    /// [`mapped`](crate::CompiledStateGraph::mapped).
    PerThread(String),
    /// Nothing: a resume runs it from the start, with the answers given so far.
    None,
}

/// The only running call of a key. It ends when it is dropped.
pub(crate) struct OnlyCall<'a> {
    cx: &'a Context,
    key: String,
}

impl<'a> OnlyCall<'a> {
    pub(crate) fn new(cx: &'a Context, key: &str) -> Result<Self, NodeError> {
        let running = &cx.scope().shared.kept_graphs;
        let mut running = running.lock();
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
        let mut running = running.lock();
        running.remove(&self.key);
    }
}
