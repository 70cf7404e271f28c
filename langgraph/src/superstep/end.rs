//! The end of a graph's run.

use crate::error::{AgentError, InvalidUpdate};
use crate::node::{Interrupt, ParentCommand};

/// How a graph's run ended.
pub(crate) enum End {
    /// Nothing is left to do.
    Done,
    /// Tasks interrupted, or a breakpoint was reached. The error is that of a refused answer.
    Paused(Vec<Interrupt>, Option<Box<AgentError>>),
    /// A command ended this graph and continues in its parent.
    Parent(Box<ParentCommand>),
}

/// Why no superstep follows.
pub(super) enum Stop {
    End(End),
    Failed(AgentError),
}

impl From<End> for Stop {
    fn from(end: End) -> Self {
        Self::End(end)
    }
}

impl From<AgentError> for Stop {
    fn from(error: AgentError) -> Self {
        Self::Failed(error)
    }
}

impl From<InvalidUpdate> for Stop {
    fn from(error: InvalidUpdate) -> Self {
        Self::Failed(error.into())
    }
}
