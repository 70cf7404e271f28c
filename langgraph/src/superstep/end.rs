//! The end of a graph's run.

use crate::error::AgentError;
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
