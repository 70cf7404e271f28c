//! The budget of a run: supersteps, and time before it yields.

use std::time::{Duration, Instant};

use crate::environment::steady;
use crate::error::AgentError;
use crate::graph::NodeName;
use crate::node::Scope;

/// The default limit of supersteps.
pub(crate) const DEFAULT_LIMIT: usize = 1_000;

/// The loop checks whether to yield after this many supersteps.
const TURN: usize = 128;

/// The loop yields after this time.
const TURN_TIME: Duration = Duration::from_millis(1);

/// Counts the supersteps of a run.
pub(crate) struct Budget {
    /// The supersteps of this run.
    pub(crate) taken: usize,
    limit: usize,
    /// When the loop last yielded; `None` for a young run.
    last_turn: Option<Instant>,
}

impl Budget {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            taken: 0,
            limit,
            last_turn: None,
        }
    }

    #[inline]
    pub(crate) const fn is_spent(&self) -> bool {
        self.taken >= self.limit
    }

    /// Returns the error of a run that needs more supersteps.
    pub(crate) fn spent(&self, next: Vec<NodeName>) -> AgentError {
        AgentError::StepLimit {
            limit: self.limit,
            next,
        }
    }

    /// Begins a superstep. Returns true if the loop should check whether to
    /// [yield](Self::give_turn).
    #[inline]
    pub(crate) fn begin_superstep(&mut self, scope: &Scope) -> bool {
        self.taken += 1;
        if let Some(heartbeat) = &scope.heartbeat {
            heartbeat.beat();
        }
        self.taken.is_multiple_of(TURN)
    }

    /// Returns true if one more superstep neither exceeds the limit nor has to yield.
    #[inline]
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_spent() && !(self.taken + 1).is_multiple_of(TURN)
    }

    /// Yields now and then, so that a loop over nodes that never wait stays cancellable.
    ///
    /// It uses the clock and not tokio's budget, of which one call consumes too little: supersteps
    /// may take as long as their nodes compute.
    pub(crate) async fn give_turn(&mut self) {
        match &mut self.last_turn {
            Some(turn) if steady().saturating_duration_since(*turn) < TURN_TIME => {}
            Some(turn) => {
                tokio::task::yield_now().await;
                *turn = steady();
            }
            // The clock starts here: a short run never reads it.
            None => self.last_turn = Some(steady()),
        }
    }
}

/// Stops a cancelled run between two supersteps, even if its nodes never wait.
#[inline]
pub(crate) fn check_cancelled(scope: &Scope) -> Result<(), AgentError> {
    match &scope.shared.cancel {
        Some(token) if token.is_cancelled() => Err(AgentError::Cancelled),
        _ => Ok(()),
    }
}
