//! What a graph inside another keeps from one call to the next.

use std::sync::PoisonError;

use crate::graph::CompiledStateGraph;
use crate::node::{Context, NodeError};
use crate::state::State;

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
    /// [`mapped`](CompiledStateGraph::mapped).
    PerThread(String),
    /// Nothing: a resume runs it from its beginning, with the answers there are.
    None,
}

impl<S: State> CompiledStateGraph<S> {
    /// What this graph keeps when it runs inside another one; per call unless set.
    ///
    /// # Examples
    ///
    /// An agent that remembers what it was asked before:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::run::Persistence;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Memory {
    ///     #[reducer(append)]
    ///     asked: Vec<String>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut expert = StateGraph::<Memory>::new();
    /// expert.add_node("look", |_: &Memory| {}).add_sequence(&["look"]);
    /// let expert = expert.compile()?.persistence(Persistence::PerThread("expert".to_owned()));
    ///
    /// let mut outer = StateGraph::<String>::new();
    /// let ask = |question: &String| Memory { asked: vec![question.clone()] };
    /// outer.add_node("expert", expert.mapped(ask, |memory: Memory| memory.asked.join(" ")));
    /// outer.add_sequence(&["expert"]);
    /// let outer = outer.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// outer.run("one".to_owned()).thread("t").await?;
    /// let outcome = outer.run("two".to_owned()).thread("t").await?;
    /// assert_eq!(outcome.into_state(), "one two");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }
}

/// The only call of a key that runs. It ends when it is dropped.
pub(crate) struct Only<'a> {
    cx: &'a Context,
    key: String,
}

impl<'a> Only<'a> {
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

impl Drop for Only<'_> {
    fn drop(&mut self) {
        let running = &self.cx.scope().shared.kept_graphs;
        let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.key);
    }
}
