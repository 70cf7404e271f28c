//! The options of a context.

use std::sync::Arc;

use langgraph::interrupt::Answer;
use langgraph::node::ContextOptions;
use langgraph::run::CancelToken;
use langgraph::stream::StreamModes;
use serde_json::Value;

use crate::TestContext;

/// A [`TestContext`] under construction.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph_testing::TestContext;
///
/// let cx = TestContext::builder()
///     .node("greet")
///     .resource(Arc::new("Hello"))
///     .metadata("user", "Ada")
///     .attempt(2)
///     .build();
///
/// assert_eq!(cx.node(), "greet");
/// assert_eq!(cx.attempt(), 2);
/// assert_eq!(cx.resource::<&str>(), Ok(&"Hello"));
/// assert_eq!(cx.metadata("user"), Some(&"Ada".into()));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct TestContextBuilder(ContextOptions);

impl TestContextBuilder {
    /// Sets the name of the node.
    pub fn node(mut self, name: impl AsRef<str>) -> Self {
        self.0.node = name.as_ref().into();
        self
    }

    /// Adds a resource; see [`Context::resource`](langgraph::Context::resource).
    pub fn resource<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.0.resources.insert(value);
        self
    }

    /// Adds the caller's metadata under `key`.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.metadata.insert(key.into(), value.into());
        self
    }

    /// Adds the answer to the interrupt under `key`. An interrupt without a key has the key `"0"`,
    /// the next `"1"`.
    pub fn answer(mut self, key: impl Into<String>, answer: impl Into<Value>) -> Self {
        self.0.answers.push(Answer {
            key: key.into(),
            value: answer.into(),
        });
        self
    }

    /// Sets the number of the attempt, from 1.
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.0.attempt = attempt;
        self
    }

    /// Sets the superstep.
    pub fn step(mut self, step: usize) -> Self {
        self.0.step = step;
        self
    }

    /// Sets how many supersteps may follow.
    pub fn remaining_steps(mut self, steps: usize) -> Self {
        self.0.remaining_steps = steps;
        self
    }

    /// Sets the thread.
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.0.thread = Some(thread.into());
        self
    }

    /// Sets that there is no thread. Then an interrupt fails, as in a graph without a checkpointer.
    pub fn without_thread(mut self) -> Self {
        self.0.thread = None;
        self
    }

    /// Sets the token that cancels the run.
    pub fn cancel_token(mut self, token: CancelToken) -> Self {
        self.0.cancel = Some(token);
        self
    }

    /// Sets which events are read; by default all.
    pub fn stream(mut self, modes: impl Into<StreamModes>) -> Self {
        self.0.modes = modes.into();
        self
    }

    /// Creates the context.
    pub fn build(self) -> TestContext {
        TestContext::from(self.0)
    }
}
