//! When a run that never waits lets others go on, and notices that it was cancelled.

use std::time::{Duration, Instant};

use crate::AgentError;
use crate::node::Scope;

/// How many supersteps pass before the loop makes sure that others get their turn.
pub(crate) const TURN: usize = 128;

/// How long the loop goes on before others get their turn.
const TURN_TIME: Duration = Duration::from_millis(1);

/// Lets others run, now and then: a loop over nodes that never wait stays interruptible.
///
/// By the clock and not by tokio's budget, of which one call takes too little: supersteps may be
/// as long as their nodes compute.
pub(crate) async fn give_turn(last: &mut Option<Instant>) {
    match last {
        Some(turn) if turn.elapsed() < TURN_TIME => {}
        Some(turn) => {
            tokio::task::yield_now().await;
            *turn = Instant::now();
        }
        // The clock starts here: a short run need not look at it.
        None => *last = Some(Instant::now()),
    }
}

/// Between two supersteps a cancelled run stops, also one whose nodes never wait.
#[inline]
pub(crate) fn check_cancelled(scope: &Scope) -> Result<(), AgentError> {
    match &scope.shared.cancel {
        Some(token) if token.is_cancelled() => Err(AgentError::Cancelled),
        _ => Ok(()),
    }
}
