//! How a run ends.

use std::fmt;
use std::sync::Arc;

use crate::error::AgentError;
use crate::error::Pause;
use crate::graph::{NodeName, UnfilledJoin};
use crate::node::Interrupt;

/// How a run ended that did not fail.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome<S> {
    /// Nothing is left to do.
    Done {
        /// The state at the end.
        state: S,
        /// Joins that wait for nodes that did not come, in the graph and in those inside it: their
        /// targets never ran. Empty in most runs.
        unfilled_joins: Vec<UnfilledJoin>,
    },
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
    /// A run that is done and has left nothing waiting.
    pub const fn done(state: S) -> Self {
        Self::Done {
            state,
            unfilled_joins: Vec::new(),
        }
    }

    /// The state at the end, or so far.
    pub fn state(&self) -> &S {
        match self {
            Self::Done { state, .. } | Self::Interrupted { state, .. } => state,
        }
    }

    /// The state at the end, or so far.
    pub fn into_state(self) -> S {
        match self {
            Self::Done { state, .. } | Self::Interrupted { state, .. } => state,
        }
    }

    /// True when nothing is left to do.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done { .. })
    }

    /// What was asked.
    pub fn interrupts(&self) -> &[Interrupt] {
        match self {
            Self::Done { .. } => &[],
            Self::Interrupted { interrupts, .. } => interrupts,
        }
    }

    /// Joins that wait for nodes that did not come, of a run that is done; see
    /// [`Outcome::Done`].
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// for node in ["choose", "left", "right", "both"] {
    ///     graph.add_node(node, |_: &i64| ());
    /// }
    /// graph
    ///     .add_edge(START, "choose")
    ///     .add_conditional_edges("choose", |_: &i64| "l", [("l", "left"), ("r", "right")])
    ///     .add_edge(["left", "right"], "both");
    ///
    /// let outcome = graph.compile()?.run(1).await?;
    /// let joins: Vec<_> = outcome.unfilled_joins().iter().map(ToString::to_string).collect();
    /// assert_eq!(joins, ["`both` waits for `right`; `left` came"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn unfilled_joins(&self) -> &[UnfilledJoin] {
        match self {
            Self::Done { unfilled_joins, .. } => unfilled_joins,
            Self::Interrupted { .. } => &[],
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
            Self::Done { state, .. } => Ok(state),
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
            Self::Done {
                state,
                unfilled_joins,
            } if unfilled_joins.is_empty() => f.debug_tuple("Done").field(state).finish(),
            Self::Done {
                state,
                unfilled_joins,
            } => f
                .debug_struct("Done")
                .field("state", state)
                .field("unfilled_joins", unfilled_joins)
                .finish(),
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
