//! What a run may still take: supersteps, and time at the processor.

use std::time::{Duration, Instant};

use crate::error::AgentError;
use crate::graph::NodeName;
use crate::node::Scope;

/// How many supersteps a run may take unless it says otherwise.
pub(crate) const DEFAULT_LIMIT: usize = 1_000;

/// How many supersteps pass before the loop makes sure that others get their turn.
const TURN: usize = 128;

/// How long the loop goes on before others get their turn.
const TURN_TIME: Duration = Duration::from_millis(1);

/// Counts the supersteps of a run.
pub(crate) struct Budget {
    /// The superstep, counted over the life of the thread; -1 before START's.
    pub(crate) step: i64,
    /// The supersteps of this run.
    pub(crate) taken: usize,
    limit: usize,
    /// When others last got their turn; none while the run is young.
    last_turn: Option<Instant>,
}

impl Budget {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            step: -1,
            taken: 0,
            limit,
            last_turn: None,
        }
    }

    /// The superstep as nodes see it.
    pub(crate) fn shown_step(&self) -> usize {
        usize::try_from(self.step).unwrap_or(0)
    }

    #[inline]
    pub(crate) const fn is_spent(&self) -> bool {
        self.taken >= self.limit
    }

    /// The error of a run that would need more.
    pub(crate) fn spent(&self, next: Vec<NodeName>) -> AgentError {
        AgentError::StepLimit {
            limit: self.limit,
            next,
        }
    }

    /// The superstep of START begins; it counts for the thread and not for the run.
    pub(crate) const fn begin_start(&mut self) {
        self.step += 1;
    }

    /// A superstep begins. True when others should [get their turn](Self::give_turn).
    #[inline]
    pub(crate) fn begin_superstep(&mut self, scope: &Scope) -> bool {
        self.step += 1;
        self.taken += 1;
        if let Some(heartbeat) = &scope.heartbeat {
            heartbeat.beat();
        }
        self.taken.is_multiple_of(TURN)
    }

    /// Lets others run, now and then: a loop over nodes that never wait stays interruptible.
    ///
    /// By the clock and not by tokio's budget, of which one call takes too little: supersteps may be
    /// as long as their nodes compute.
    pub(crate) async fn give_turn(&mut self) {
        match &mut self.last_turn {
            Some(turn) if turn.elapsed() < TURN_TIME => {}
            Some(turn) => {
                tokio::task::yield_now().await;
                *turn = Instant::now();
            }
            // The clock starts here: a short run need not look at it.
            None => self.last_turn = Some(Instant::now()),
        }
    }
}

/// A cancelled run stops between two supersteps, also when its nodes never wait.
#[inline]
pub(crate) fn check_cancelled(scope: &Scope) -> Result<(), AgentError> {
    match &scope.shared.cancel {
        Some(token) if token.is_cancelled() => Err(AgentError::Cancelled),
        _ => Ok(()),
    }
}
