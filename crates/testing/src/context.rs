//! The context of a test.

use std::ops::Deref;

use langgraph::interrupt::{Answer, Interrupt};
use langgraph::message::MessageChunk;
use langgraph::node::{Context, ContextOptions, DetachedContext};
use langgraph::state::State;
use langgraph::stream::{Event, EventKind};
use serde_json::Value;

use crate::TestContextBuilder;

/// A [`Context`] for a test, which records what the node does with it.
///
/// It dereferences to the context: `node(&state, &cx).await` calls a node. A tool takes
/// `ToolContext::new(&cx, &call)`.
#[derive(Debug)]
pub struct TestContext(DetachedContext);

impl TestContext {
    /// Creates a context of a node `node`, in the first superstep of a run on a thread.
    pub fn new() -> Self {
        Self::from(ContextOptions::default())
    }

    /// Creates a context with options.
    pub fn builder() -> TestContextBuilder {
        TestContextBuilder::default()
    }

    /// Returns the open interrupts: those of the node, and those of a graph inside it.
    pub fn interrupts(&self) -> Vec<Interrupt> {
        self.0.interrupts()
    }

    /// Answers the interrupt under `key`, and closes the open ones. Then call the node again, as
    /// the runtime does. An interrupt of a graph inside the node has to be open, since another one may have its key.
    ///
    /// The context keeps its events, and the results of [`Context::once`].
    pub fn answer(&mut self, key: impl Into<String>, answer: impl Into<Value>) {
        self.0.answer(Answer {
            key: key.into(),
            value: answer.into(),
        });
    }

    /// Returns the values that the node has emitted with [`Context::emit`].
    pub fn emitted(&self) -> Vec<Value> {
        let events = self.events::<bool>().into_iter();
        let values = events.filter_map(|event| match event.kind {
            EventKind::Custom { value, .. } => Some(value),
            _ => None,
        });
        values.collect()
    }

    /// Returns the chunks that the node has emitted with [`Context::emit_chunk`].
    pub fn chunks(&self) -> Vec<MessageChunk> {
        let events = self.events::<bool>().into_iter();
        let chunks = events.filter_map(|event| match event.kind {
            EventKind::MessageChunk { chunk, .. } => Some(*chunk),
            _ => None,
        });
        chunks.collect()
    }

    /// Returns all events so far, those of graphs inside the node too. `S` is the state of those
    /// graphs.
    pub fn events<S: State>(&self) -> Vec<Event<S>> {
        self.0.events()
    }
}

impl Default for TestContext {
    fn default() -> Self {
        Self::new()
    }
}

impl From<ContextOptions> for TestContext {
    fn from(options: ContextOptions) -> Self {
        Self(DetachedContext::new(options))
    }
}

impl Deref for TestContext {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.0.context()
    }
}
