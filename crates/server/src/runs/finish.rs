//! The end of a run.

use std::time::Duration;

use langgraph::error::{AgentError, CheckpointError};
use serde_json::{Value, json};

use super::before::Before;
use super::failure::{has_storage_failed, requeue};
use super::live::Live;
use super::outcome::Outcome;
use super::thread_row::{ThreadStatusUpdate, thread_change};
use crate::app::App;
use crate::error::{ApiResult, problem};
use crate::graph::{ErasedGraph, Finished, StateQuery};
use crate::queue::{Cancel, RunEnd, RunQueue};
use crate::rows::{Base, Ended, Run, RunEnding, ThreadEnd};
use crate::stream::{EndStatus, OpenInterrupt, Out, RunError, Spent, Stored, StreamEvent};
use crate::wire::usage::Usages;

/// How often a run is attempted when its storage fails.
const STORAGE_ATTEMPTS: i64 = 10;

/// An attempt to carry out a run.
pub(super) struct Attempt {
    pub(super) result: Result<Finished, AgentError>,
    /// Where the thread was before the run.
    pub(super) base: Base,
    pub(super) usages: Usages,
    /// What its models have used, and those of earlier attempts.
    pub(super) spent: Option<Spent>,
}

/// Publishes the end of a run, and writes it.
pub(super) async fn finish(
    app: &App,
    live: &Live,
    row: &Run,
    graph: &dyn ErasedGraph,
    out: Out,
    attempt: Attempt,
) -> ApiResult<Outcome> {
    let error = match &attempt.result {
        Err(AgentError::Cancelled) | Ok(_) => None,
        Err(error) => Some(problem(error, app.shows_errors)),
    };
    let is_drained = matches!(&attempt.result, Ok(finished) if finished.drained);
    let is_repeated = has_storage_failed(&attempt.result) && live.claim.attempt < STORAGE_ATTEMPTS;
    let stored = out.finish().await;
    if live.is_revoked() || stored == Stored::Revoked {
        return Ok(Outcome::NotEnded);
    }
    if is_drained && stored != Stored::Failed {
        if let Some(row) = with_spent(row, attempt.spent) {
            app.rows.change_run(&row).await?;
        }
        app.rows.give_back(&live.claim).await?;
        return Ok(Outcome::NotEnded);
    }
    if is_repeated || stored == Stored::Failed {
        requeue(app, &live.claim).await;
        return Ok(Outcome::NotEnded);
    }
    // An earlier attempt, by an older server, may have published the end, and have died then.
    let event = StreamEvent::ended(end_status(&attempt.result), error.clone());
    let event = Some(event).filter(|_| !live.feed.has_end());
    let end = End { error, event };
    let mut pause = Duration::from_millis(50);
    let outcome = loop {
        match write_end(app, live, row, graph, &attempt, &end).await {
            // The run has ended: it is not carried out again because this cannot be written now.
            Err(failure) if failure.is_storage() && !live.is_revoked() => {
                tracing::warn!(error = ?failure, "failed to write the end of a run; trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
            written => break written?,
        }
    };
    if let (Outcome::Ended { .. }, Some(event)) = (&outcome, end.event) {
        live.feed.show(event).await;
    }
    Ok(outcome)
}

/// What clients see of the end of a run.
struct End {
    error: Option<RunError>,
    /// The last event.
    event: Option<StreamEvent>,
}

/// Returns a run with what its models have used in its metadata.
fn with_spent(row: &Run, spent: Option<Spent>) -> Option<Run> {
    let spent = spent?;
    let mut row = row.clone();
    row.metadata["usage_metadata"] = spent.to_wire();
    Some(row)
}

fn end_status(result: &Result<Finished, AgentError>) -> EndStatus {
    match result {
        Ok(finished) if finished.paused => EndStatus::Interrupted,
        Ok(_) => EndStatus::Completed,
        Err(AgentError::Cancelled) => EndStatus::Cancelled,
        Err(_) => EndStatus::Failed,
    }
}

/// What rows say of a run and of its thread when the run has ended.
struct FinalStatus {
    run: &'static str,
    thread: &'static str,
    error: Value,
    result: Value,
}

async fn final_status(
    row: &Run,
    graph: &dyn ErasedGraph,
    result: &Result<Finished, AgentError>,
    error: Option<&RunError>,
) -> ApiResult<FinalStatus> {
    let json = error.map_or(Value::Null, RunError::json);
    let failure = json!({"__error__": json});
    Ok(match result {
        Ok(finished) => FinalStatus {
            run: "success",
            thread: if finished.paused {
                "interrupted"
            } else {
                "idle"
            },
            error: Value::Null,
            result: values_of(finished),
        },
        Err(cancelled @ AgentError::Cancelled) => FinalStatus {
            run: "interrupted",
            thread: "interrupted",
            error: problem(cancelled, false).json(),
            result: json!({}),
        },
        // The answer was refused: its interrupt is open as before.
        Err(error)
            if is_resume(row)
                && !keeps_waking(row, error)
                && has_interrupts(graph, &row.thread_id).await? =>
        {
            FinalStatus {
                run: "error",
                thread: "interrupted",
                error: Value::Null,
                result: failure,
            }
        }
        Err(error) => FinalStatus {
            run: match error {
                AgentError::TimedOut(_) => "timeout",
                _ => "error",
            },
            thread: "error",
            error: json,
            result: failure,
        },
    })
}

/// Returns how the thread stood before a run that was refused, or cancelled, and has stored nothing.
async fn before_refused(app: &App, row: &Run, attempt: &Attempt) -> ApiResult<Option<Before>> {
    match &attempt.result {
        Ok(_) => Ok(None),
        Err(error) if keeps_waking(row, error) => Ok(None),
        Err(_) => Before::if_unchanged(app, &row.thread_id, &attempt.base).await,
    }
}

/// Returns true if the clock would start the same run again at once, unless its thread has failed. If the wait was
/// answered meanwhile, it would not.
fn keeps_waking(row: &Run, error: &AgentError) -> bool {
    let answered = matches!(
        error,
        AgentError::Checkpoint(CheckpointError::NothingToResume { .. })
    );
    row.kwargs.by_clock && !answered
}

fn is_resume(row: &Run) -> bool {
    let command = row.kwargs.command.as_ref();
    command.is_some_and(|command| !command.resume.is_null())
}

async fn has_interrupts(graph: &dyn ErasedGraph, thread: &str) -> ApiResult<bool> {
    let state = graph.state(thread, &StateQuery::default()).await?;
    let state = state.unwrap_or_default();
    Ok(state["interrupts"]
        .as_array()
        .is_some_and(|open| !open.is_empty()))
}

fn values_of(finished: &Finished) -> Value {
    let mut values = finished.values.clone();
    if !finished.interrupts.is_empty() && values.is_object() {
        let open = finished.interrupts.iter();
        values["__interrupt__"] = open.map(|open| OpenInterrupt::new(open).json()).collect();
    }
    values
}

/// Writes how a run has ended.
async fn write_end(
    app: &App,
    live: &Live,
    row: &Run,
    graph: &dyn ErasedGraph,
    attempt: &Attempt,
    seen: &End,
) -> ApiResult<Outcome> {
    let thread = row.thread_id.as_str();
    let is_cancelled = matches!(attempt.result, Err(AgentError::Cancelled));
    if is_cancelled && live.action() == Some(Cancel::Rollback) {
        let before = roll_back(app, live, graph, thread, &attempt.base).await?;
        let result = json!({});
        let notice = app.webhooks.notice(row, "interrupted", &result);
        let ending = RunEnding::new(RunEnd::Removed, notice);
        let ended = end(app, live, row, graph, &ending, before.row()).await?;
        return Ok(Outcome::of(ended, result));
    }
    let FinalStatus {
        run: status,
        thread: thread_status,
        error,
        result,
    } = final_status(row, graph, &attempt.result, seen.error.as_ref()).await?;
    let before = before_refused(app, row, attempt).await?;
    let update = before.as_ref().map(Before::row);
    let update = update.unwrap_or_else(|| ThreadStatusUpdate {
        error,
        usages: attempt.usages.clone(),
        run: (attempt.result.is_ok() || is_cancelled).then_some(&*row.run_id),
        ..ThreadStatusUpdate::new(thread_status)
    });
    let spent = with_spent(row, attempt.spent);
    let next = live.feed.is_stored.then(|| live.feed.next_number());
    let event = seen.event.as_ref().zip(next);
    let ending = RunEnding {
        end: RunEnd::Status(status),
        notice: app.webhooks.notice(row, status, &result),
        run: spent.as_ref(),
        // Its thread says it only until the next run. That of a temporary one is gone, and no client asks for it.
        result: (app.rows.is_shared() || !row.kwargs.temporary).then_some(&result),
        event: event.map(|(event, next)| event.logged(next)).transpose()?,
        events: next.map(|next| next + i64::from(event.is_some())),
    };
    let ended = end(app, live, row, graph, &ending, update).await?;
    Ok(Outcome::of(ended, result))
}

/// Takes back what a run has stored, and returns how its thread stood before.
async fn roll_back(
    app: &App,
    live: &Live,
    graph: &dyn ErasedGraph,
    thread: &str,
    base: &Base,
) -> ApiResult<Before> {
    let Ok(head) = base.checkpoint.parse() else {
        graph.delete(thread).await?;
        return Ok(Before::default());
    };
    let before = Before::noted(base, head)?;
    let saver = app.saver.held_by(&live.claim.holder().into());
    before.restore(&*saver, thread).await?;
    Ok(before)
}

/// Ends a run with its thread.
async fn end(
    app: &App,
    live: &Live,
    row: &Run,
    graph: &dyn ErasedGraph,
    ending: &RunEnding<'_>,
    update: ThreadStatusUpdate<'_>,
) -> ApiResult<Ended> {
    let (claim, thread) = (&live.claim, row.thread_id.as_str());
    if row.kwargs.temporary {
        // Streams in other processes still read its events. No client reads the state in its row.
        let thread_end = if app.rows.is_shared() {
            ThreadEnd::Unchanged
        } else {
            ThreadEnd::Removed
        };
        return Ok(app.rows.end(claim, ending, thread_end).await?);
    }
    let change = thread_change(app, graph, thread, update).await?;
    let changed = ThreadEnd::Changed(&change);
    let ended = app.rows.end(claim, ending, changed).await?;
    if ended != Ended::ThreadMissing {
        return Ok(ended);
    }
    Ok(app.rows.end(claim, ending, ThreadEnd::Unchanged).await?)
}
