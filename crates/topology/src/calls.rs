//! What a node calls.

/// How often one run of a node calls models and tools, as it declares: `#[node(calls(model, tool = 3))]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Calls {
    /// Calls of models.
    pub model: u32,
    /// Calls of tools.
    pub tool: u32,
}

impl Calls {
    /// Returns true if nothing is called.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
