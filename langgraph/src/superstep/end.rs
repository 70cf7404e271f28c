//! The end of a graph's run.

use crate::error::{AgentError, Panicked};
use crate::interrupt::Interrupt;
use crate::node::ParentCommand;

/// How a graph's run ended.
pub(crate) enum End {
    /// Nothing is left to do.
    Done,
    /// Tasks interrupted, or a breakpoint was reached. The error is that of a refused answer.
    Paused(Vec<Interrupt>, Option<Box<AgentError>>),
    /// A command ended this graph and continues in its parent.
    Parent(Box<ParentCommand>),
}

/// Why no superstep follows: the end of the run, or its error. Boxed, because every step of every
/// superstep returns it.
pub(super) struct Stop(Box<Result<End, AgentError>>);

impl Stop {
    /// The error of a run whose tasks are lost, which none are.
    #[cold]
    pub(super) fn lost() -> Self {
        Panicked::lost().into()
    }

    pub(super) fn into_end(self) -> Result<End, AgentError> {
        *self.0
    }
}

impl From<End> for Stop {
    fn from(end: End) -> Self {
        Self(Box::new(Ok(end)))
    }
}

impl<E> From<E> for Stop
where
    AgentError: From<E>,
{
    fn from(error: E) -> Self {
        Self(Box::new(Err(error.into())))
    }
}
