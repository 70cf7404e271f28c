//! What a tool takes.

/// A tool that a node runs: its name, and the form of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ToolInfo {
    /// The name by which a model calls it.
    pub name: String,
    /// What it does; empty if it does not say.
    pub docs: String,
    /// The JSON Schema of its arguments, as text.
    pub arguments: String,
    /// The decisions that a person may take before it runs, such as `approve`; empty if it needs no approval.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub decisions: Vec<String>,
    /// The JSON Schema of the custom events that its calls emit, as text; empty if it declares none.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "String::is_empty")
    )]
    pub custom_events: String,
}

impl ToolInfo {
    /// Creates a tool with the JSON Schema of its arguments.
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            docs: String::new(),
            arguments: arguments.into(),
            decisions: Vec::new(),
            custom_events: String::new(),
        }
    }

    /// Sets what it does.
    #[must_use]
    pub fn docs(mut self, docs: impl Into<String>) -> Self {
        self.docs = docs.into();
        self
    }

    /// Sets the decisions that a person may take before it runs.
    #[must_use]
    pub fn decisions(mut self, decisions: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.decisions = decisions.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the JSON Schema of the custom events that its calls emit.
    #[must_use]
    pub fn custom_events(mut self, schema: impl Into<String>) -> Self {
        self.custom_events = schema.into();
        self
    }
}
