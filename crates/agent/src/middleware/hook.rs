//! The places where middleware acts.

use std::fmt;

/// A place in an agent where middleware acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hook {
    /// Once, before anything else.
    BeforeAgent,
    /// Before each model call.
    BeforeModel,
    /// Around each model call.
    AroundModel,
    /// After each model call.
    AfterModel,
    /// Around each call of a tool.
    AroundTool,
    /// After each call of a tool.
    AfterTool,
    /// Once, at the end.
    AfterAgent,
}

impl Hook {
    /// Returns the name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeAgent => "before_agent",
            Self::BeforeModel => "before_model",
            Self::AroundModel => "around_model",
            Self::AfterModel => "after_model",
            Self::AroundTool => "around_tool",
            Self::AfterTool => "after_tool",
            Self::AfterAgent => "after_agent",
        }
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
