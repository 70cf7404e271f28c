//! How a graph comes to its end.

use crate::error::AgentError;
use crate::node::{Interrupt, ParentCommand};

/// How a graph came to its end.
pub(crate) enum End {
    /// Nothing is left to do.
    Done,
    /// Tasks asked questions, or a breakpoint was reached.
    Paused(Vec<Interrupt>),
    /// It waits as before, because an answer was none.
    Refused(Vec<Interrupt>, Box<AgentError>),
    /// A command ended this graph and goes on in the one around it.
    Parent(Box<ParentCommand>),
}

impl End {
    /// A pause; what is wrong with an answer goes to whoever gave it.
    pub(crate) fn paused(interrupts: Vec<Interrupt>, refused: Option<AgentError>) -> Self {
        match refused {
            None => Self::Paused(interrupts),
            Some(error) => Self::Refused(interrupts, Box::new(error)),
        }
    }
}
