//! The next action of an agent.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The next action of an agent, as its state holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NextAction {
    /// Nothing has been decided yet.
    #[default]
    #[serde(rename = "")]
    Undecided,
    /// The requested tools run.
    Tool,
    /// The model is called again.
    Agent,
    /// The agent has answered.
    End,
    /// The agent has stopped because it has reached its limit of model calls.
    MaxIterations,
}

impl NextAction {
    /// Returns the name of the action; the name of `None` is empty.
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
