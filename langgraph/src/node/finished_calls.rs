//! Calls of graphs that have ended, for another attempt of the node that calls them.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use langgraph_core::Lock;

use super::Context;
use crate::state::State;

/// The final states of calls that a node has made, where no log has them.
///
/// Only a node with a retry policy has them, and the tasks of graphs inside it.
#[derive(Default)]
pub(crate) struct FinishedCalls(Lock<HashMap<String, Box<dyn Any + Send + Sync>>>);

/// The place of a call among those that have ended.
pub(crate) struct FinishedCall {
    calls: Arc<FinishedCalls>,
    key: String,
    /// The node that calls is the one that is repeated, not one of a graph below it.
    of_repeated: bool,
}

impl FinishedCall {
    /// Returns the place of a call; `None` if no attempt will look for it, or a log has it.
    pub(crate) fn new(cx: &Context, number: usize) -> Option<Self> {
        let calls = Arc::clone(cx.finished_calls()?);
        let key = cx.path_below(number).of_call();
        let of_repeated = cx.scope().finished_calls.is_none();
        Some(Self {
            calls,
            key,
            of_repeated,
        })
    }

    /// Returns true if the call has to be the one of the earlier attempt. A graph below the node that is repeated has no
    /// log to go on with: it runs from its start, and may take another course.
    pub(crate) const fn takes_same_course(&self) -> bool {
        self.of_repeated
    }

    /// Returns the final state, if the call has ended in an earlier attempt.
    pub(crate) fn state<S: State>(&self) -> Option<S> {
        self.calls.0.lock().get(&self.key)?.downcast_ref().cloned()
    }

    /// Keeps the final state.
    pub(crate) fn keep<S: State>(self, state: S) {
        self.calls.0.lock().insert(self.key, Box::new(state));
    }
}
