//! What a node calls.

/// How often one run of a node calls models and tools, as it declares: `#[node(calls(model, tool = 3))]`.
///
/// # Examples
///
/// A node that calls a model, and then up to five times a tool that asks two models:
///
/// ```
/// use langgraph::graph::Calls;
///
/// let model = Calls { model: 1, tool: 0 };
/// let tool = Calls { model: 2, tool: 1 };
/// assert_eq!(model.and(tool.times(5)), Calls { model: 11, tool: 5 });
/// assert_eq!(model.or(tool), Calls { model: 2, tool: 1 });
/// assert_eq!(model.and(Calls::UNBOUNDED), Calls::UNBOUNDED);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Calls {
    /// Calls of models.
    pub model: u32,
    /// Calls of tools.
    pub tool: u32,
}

impl Calls {
    /// Nothing bounds how often the node calls them. A graph with such a node has no bounds.
    pub const UNBOUNDED: Self = Self {
        model: u32::MAX,
        tool: u32::MAX,
    };

    /// Returns true if nothing is called.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if nothing bounds the calls of models or those of tools.
    pub fn is_unbounded(&self) -> bool {
        self.model == u32::MAX || self.tool == u32::MAX
    }

    /// Returns the calls of what does both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            model: self.model.saturating_add(other.model),
            tool: self.tool.saturating_add(other.tool),
        }
        .settled()
    }

    /// Returns the most calls of what does either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            model: self.model.max(other.model),
            tool: self.tool.max(other.tool),
        }
        .settled()
    }

    /// Returns the calls of what does it so often.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self {
            model: self.model.saturating_mul(times),
            tool: self.tool.saturating_mul(times),
        }
        .settled()
    }

    /// Where one number has no bound, the other says nothing.
    fn settled(self) -> Self {
        if self.is_unbounded() {
            Self::UNBOUNDED
        } else {
            self
        }
    }
}
