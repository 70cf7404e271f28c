//! The outcome of a run.

use std::fmt;
use std::sync::Arc;

use crate::checkpoint::{RunStatus, UnfilledJoin};
use crate::error::{AgentError, Pause};
use crate::graph::NodeName;
use crate::interrupt::Interrupt;
use crate::node::Shared;
use crate::state::State;
use crate::superstep::{End, Frontier};
use crate::task::Position;

/// The outcome of a run that did not fail.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome<S> {
    /// The run is complete.
    Done {
        /// The final state.
        state: S,
        /// Joins that still wait for some sources, in the graph, and in subgraphs that have ended since
        /// the input: their targets never ran. On a thread, also in those that ended before the run was
        /// resumed. Usually empty.
        unfilled_joins: Vec<UnfilledJoin>,
    },
    /// The run has stopped at the end of a superstep, on request; see
    /// [`CancelToken::drain`](crate::run::CancelToken::drain).
    Drained {
        /// The state so far.
        state: S,
        /// The nodes that run when the thread goes on.
        next: Vec<NodeName>,
    },
    /// The run waits for answers, or at a breakpoint if there are no interrupts.
    Interrupted {
        /// The state so far.
        state: S,
        /// The interrupts, in task order.
        interrupts: Vec<Interrupt>,
        /// The nodes that run after the resume.
        next: Vec<NodeName>,
    },
}

impl<S: State> Outcome<S> {
    /// Creates the outcome of a run that has ended there.
    #[inline]
    pub(crate) fn of_end(
        end: End,
        position: Position<S>,
        frontier: &Frontier<S>,
    ) -> Result<Self, AgentError> {
        position.note_end();
        let shared = &position.scope.shared;
        match end {
            End::Done => {
                position.report_unfilled_joins(&frontier.joins);
                Ok(Self::Done {
                    unfilled_joins: shared.take_unfilled_joins(),
                    state: Arc::unwrap_or_clone(position.state),
                })
            }
            End::Paused(_, Some(refused)) => Err(*refused),
            End::Paused(interrupts, None) if is_drained(shared, &interrupts) => {
                let next = frontier.pending().open_names(&position.plan);
                let state = Arc::unwrap_or_clone(position.state);
                Ok(Self::Drained { state, next })
            }
            End::Paused(interrupts, None) => {
                let next = frontier.pending().open_names(&position.plan);
                Ok(Self::Interrupted {
                    interrupts,
                    next,
                    state: Arc::unwrap_or_clone(position.state),
                })
            }
            End::Parent(parent) => Err(AgentError::NoParent {
                command: format!("{parent:?}"),
            }),
        }
    }
}

/// Returns true if a run that pauses goes on by itself.
fn is_drained(shared: &Shared, interrupts: &[Interrupt]) -> bool {
    shared.pause_status(!interrupts.is_empty()) == RunStatus::Drained
}

impl<S> Outcome<S> {
    /// Creates the outcome of a complete run without unfilled joins.
    pub const fn done(state: S) -> Self {
        Self::Done {
            state,
            unfilled_joins: Vec::new(),
        }
    }

    /// Returns the state at the end, or so far.
    pub fn state(&self) -> &S {
        match self {
            Self::Done { state, .. }
            | Self::Drained { state, .. }
            | Self::Interrupted { state, .. } => state,
        }
    }

    /// Returns the state at the end, or so far: a run that has paused is not complete.
    ///
    /// [`finished`](Self::finished) is for a run that should be complete: there a pause is an error.
    pub fn into_state_so_far(self) -> S {
        match self {
            Self::Done { state, .. }
            | Self::Drained { state, .. }
            | Self::Interrupted { state, .. } => state,
        }
    }

    /// Returns true if the run is complete.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done { .. })
    }

    /// Returns the open interrupts.
    pub fn interrupts(&self) -> &[Interrupt] {
        match self {
            Self::Done { .. } | Self::Drained { .. } => &[],
            Self::Interrupted { interrupts, .. } => interrupts,
        }
    }

    /// Returns the joins of a complete run that still wait for some sources; see [`Outcome::Done`].
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
            Self::Drained { .. } | Self::Interrupted { .. } => &[],
        }
    }

    /// Returns the final state; a pause is an error that holds the state so far.
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
            Self::Drained { state, next } => paused(Vec::new(), next, state),
            Self::Interrupted {
                state,
                interrupts,
                next,
            } => paused(interrupts, next, state),
        }
    }
}

fn paused<S: Send + Sync + 'static>(
    interrupts: Vec<Interrupt>,
    next: Vec<NodeName>,
    state: S,
) -> Result<S, AgentError> {
    let pause = Pause::new(interrupts, next, state);
    Err(AgentError::Interrupted(Box::new(pause)))
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
            Self::Drained { state, next } => f
                .debug_struct("Drained")
                .field("state", state)
                .field("next", next)
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
