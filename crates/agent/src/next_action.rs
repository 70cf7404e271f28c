//! What an agent is about to do.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an agent is about to do, as its state says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NextAction {
    /// Nothing has been decided yet.
    #[default]
    #[serde(rename = "")]
    Undecided,
    /// The tools that the model asked for run.
    Tool,
    /// The model is asked again.
    Agent,
    /// The agent has answered.
    End,
    /// The agent has stopped because it may not ask its model more often.
    MaxIterations,
}

impl NextAction {
    /// Its name; nothing is decided by the empty one.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Undecided => "",
            Self::Tool => "tool",
            Self::Agent => "agent",
            Self::End => "end",
            Self::MaxIterations => "max_iterations",
        }
    }
}

impl fmt::Display for NextAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
