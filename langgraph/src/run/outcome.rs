//! How a run ends.

use std::fmt;
use std::sync::Arc;

use crate::AgentError;
use crate::error::Pause;
use crate::graph::NodeName;
use crate::node::Interrupt;

/// How a run ended that did not fail.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome<S> {
    /// Nothing is left to do.
    Done(S),
    /// The run waits: for answers, or, when there are no questions, at a breakpoint.
    Interrupted {
        /// The state so far.
        state: S,
        /// What was asked, in task order.
        interrupts: Vec<Interrupt>,
        /// The nodes that run when it goes on.
        next: Vec<NodeName>,
    },
}

impl<S> Outcome<S> {
    /// The state at the end, or so far.
    pub fn state(&self) -> &S {
        match self {
            Self::Done(state) | Self::Interrupted { state, .. } => state,
        }
    }

    /// The state at the end, or so far.
    pub fn into_state(self) -> S {
        match self {
            Self::Done(state) | Self::Interrupted { state, .. } => state,
        }
    }

    /// True when nothing is left to do.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// What was asked.
    pub fn interrupts(&self) -> &[Interrupt] {
        match self {
            Self::Done(_) => &[],
            Self::Interrupted { interrupts, .. } => interrupts,
        }
    }

    /// The state at the end; a pause is an error that holds the state so far.
    ///
    /// # Errors
    ///
    /// [`AgentError::Interrupted`].
    pub fn finished(self) -> Result<S, AgentError>
    where
        S: Send + Sync + 'static,
    {
        match self {
            Self::Done(state) => Ok(state),
            Self::Interrupted {
                state,
                interrupts,
                next,
            } => Err(AgentError::Interrupted(Box::new(Pause {
                interrupts,
                next,
                state: Arc::new(state),
            }))),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for Outcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(state) => f.debug_tuple("Done").field(state).finish(),
            Self::Interrupted {
                state,
                interrupts,
                next,
            } => f
                .debug_struct("Interrupted")
                .field("state", state)
                .field("interrupts", interrupts)
                .field("next", next)
                .finish(),
        }
    }
}
