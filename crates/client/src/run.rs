//! The request for a run.

use serde_json::{Map, Value, json};

/// A run to be started.
///
/// # Examples
///
/// ```
/// use langgraph_client::NewRun;
/// use serde_json::json;
///
/// let first = NewRun::new("agent").input(json!({"messages": []})).resumable();
/// let answer = NewRun::new("agent").resume(json!("yes"));
/// # let _ = (first, answer);
/// ```
#[derive(Clone, Debug)]
pub struct NewRun(Map<String, Value>);

impl NewRun {
    /// Creates a run of an assistant: the name of a graph, or the id of an assistant.
    pub fn new(assistant: impl Into<String>) -> Self {
        let mut fields = Map::new();
        fields.insert("assistant_id".to_owned(), Value::String(assistant.into()));
        Self(fields)
    }

    /// Sets a field of the request, by its name in the interface.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0.insert(field.to_owned(), value.into());
        self
    }

    /// Sets the input of the graph.
    #[must_use]
    pub fn input(self, input: impl Into<Value>) -> Self {
        self.with("input", input)
    }

    /// Answers the interrupts of the thread: one value, or a map from ids to values.
    #[must_use]
    pub fn resume(self, answer: impl Into<Value>) -> Self {
        let answer: Value = answer.into();
        self.with("command", json!({"resume": answer}))
    }

    /// Sets what the stream contains.
    #[must_use]
    pub fn stream_mode(self, modes: &[&str]) -> Self {
        self.with("stream_mode", json!(modes))
    }

    /// Stores the events, so that a stream can resume without missing one.
    #[must_use]
    pub fn resumable(self) -> Self {
        self.with("stream_resumable", true)
    }

    /// Creates the thread if there is none.
    #[must_use]
    pub fn create_thread(self) -> Self {
        self.with("if_not_exists", "create")
    }

    pub(crate) fn json(&self) -> Value {
        Value::Object(self.0.clone())
    }
}
