//! Runs that the server cannot carry out, now or at all.

use std::sync::Arc;
use std::time::Duration;

use langgraph::error::{AgentError, CheckpointError};
use serde_json::{Value, json};

use super::live::Live;
use super::outcome::Outcome;
use super::temporary::leave_thread;
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::graph::Finished;
use crate::queue::{Claim, EventLog, RunEnd, RunQueue};
use crate::rows::{Ended, Run, RunEnding, Thread, ThreadEnd};
use crate::stream::{EndStatus, RunError, StreamEvent};

/// Returns true if the storage failed, and not the run: it is carried out again, from its last
/// checkpoint.
pub(super) fn has_storage_failed(result: &Result<Finished, AgentError>) -> bool {
    match result {
        Ok(_) => false,
        // Another run has taken the thread from this one, which may have to be taken again.
        Err(AgentError::Checkpoint(CheckpointError::LeaseLost { .. })) => true,
        Err(error) => ApiError::is_storage_error(error),
    }
}

/// Puts a run back whose storage has failed, and tries until the database has it, or another process has the run.
pub(super) async fn requeue(app: &App, claim: &Claim) {
    let mut pause = Duration::from_millis(100);
    while let Err(error) = app.rows.give_back_failed(claim).await {
        tracing::warn!(%error, run = claim.run, "failed to put a run back; trying again");
        if app.runs.is_draining() {
            // Its lease expires.
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(5));
    }
}

/// What is written of a run that the server could not carry out.
struct Failure {
    error: RunError,
    event: StreamEvent,
    result: Value,
}

impl Failure {
    fn new() -> Self {
        let error = RunError::internal();
        Self {
            event: StreamEvent::ended(EndStatus::Failed, Some(error.clone())),
            result: json!({"__error__": error.json()}),
            error,
        }
    }

    /// Writes the end of the run: its last event, its thread, its result and its status. Returns
    /// false if the claim is no longer valid.
    async fn write(
        &self,
        app: &App,
        claim: &Claim,
        row: &Run,
        next: Option<i64>,
    ) -> ApiResult<bool> {
        let change = |thread: &mut Thread| {
            "error".clone_into(&mut thread.status);
            thread.error = self.error.json();
            // It would be woken again and again.
            thread.wakes = None;
        };
        let notice = app.webhooks.notice(row, "error", &self.result);
        let ending = RunEnding {
            result: Some(&self.result),
            event: next.map(|next| self.event.logged(next)).transpose()?,
            ..RunEnding::new(RunEnd::Status("error"), notice)
        };
        let thread = ThreadEnd::Changed(&change);
        let mut ended = app.rows.end(claim, &ending, thread).await?;
        if ended == Ended::ThreadMissing {
            ended = app.rows.end(claim, &ending, ThreadEnd::Unchanged).await?;
        }
        Ok(ended == Ended::Yes)
    }
}

/// Ends a run that the server could not carry out.
pub(super) async fn fail_run(app: &App, live: &Live, row: &Run) -> Outcome {
    if live.is_revoked() {
        return Outcome::NotEnded;
    }
    let failure = Failure::new();
    let next = (live.feed.is_stored && !live.feed.has_end()).then(|| live.feed.next_number());
    match failure.write(app, &live.claim, row, next).await {
        Ok(false) => return Outcome::NotEnded,
        Ok(true) => {}
        Err(error) => {
            tracing::error!(?error, "failed to write the end of a run");
            requeue(app, &live.claim).await;
            return Outcome::NotEnded;
        }
    }
    if !live.feed.has_end() {
        live.feed.add(failure.event);
    }
    Outcome::Ended {
        result: failure.result,
        removal: None,
    }
}

/// Ends a run that was attempted too often, which this process has claimed for that.
pub(super) async fn fail_lost_run(app: &Arc<App>, claim: Claim) -> ApiResult<()> {
    let row: Run = serde_json::from_str(&claim.payload)?;
    let next = if app.stores_events(&row) {
        let last = app.rows.last(&claim.run).await?;
        let last = last.as_ref().map(StreamEvent::read).transpose()?;
        match last {
            Some(last) if last.is_end() => None,
            last => Some(last.map_or(0, |last| last.number.saturating_add(1))),
        }
    } else {
        None
    };
    if Failure::new().write(app, &claim, &row, next).await? {
        leave_thread(app, &row, None);
    }
    Ok(())
}
