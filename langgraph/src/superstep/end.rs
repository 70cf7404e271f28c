//! The end of a graph's run.

use crate::error::AgentError;
use crate::node::{Interrupt, ParentCommand};

/// How a graph's run ended.
pub(crate) enum End {
    /// Nothing is left to do.
    Done,
    /// Tasks interrupted, or a breakpoint was reached.
    Paused(Vec<Interrupt>),
    /// The interrupts stay open, because an answer was refused.
    Refused(Vec<Interrupt>, Box<AgentError>),
    /// A command ended this graph and continues in its parent.
    Parent(Box<ParentCommand>),
}

impl End {
    /// Creates a pause; the error of a refused answer goes to the caller.
    pub(crate) fn paused(interrupts: Vec<Interrupt>, refused: Option<AgentError>) -> Self {
        match refused {
            None => Self::Paused(interrupts),
            Some(error) => Self::Refused(interrupts, Box::new(error)),
        }
    }
}
