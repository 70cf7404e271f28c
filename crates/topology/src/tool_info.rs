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
}

impl ToolInfo {
    /// Creates a tool with the JSON Schema of its arguments.
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            docs: String::new(),
            arguments: arguments.into(),
        }
    }

    /// Sets what it does.
    #[must_use]
    pub fn docs(mut self, docs: impl Into<String>) -> Self {
        self.docs = docs.into();
        self
    }
}
