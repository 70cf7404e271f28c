//! The end of a run.

use std::sync::Arc;
use std::time::Duration;

use langgraph::error::{AgentError, CheckpointError};
use serde_json::{Value, json};

use super::cleanup::delete_temporary_thread;
use super::live::Live;
use super::session::has_storage_failed;
use super::wake::first_due;
use crate::app::App;
use crate::error::{ApiResult, problem};
use crate::graph::{ErasedGraph, Finished};
use crate::queue::{Cancel, Claim, EventLog, RunQueue};
use crate::rows::{Run, Thread, Writer};
use crate::stream::{EndStatus, OpenInterrupt, Out, RunError, Stored, StreamEvent};
use crate::wire::time::now;
use crate::wire::usage::Usages;

/// How often a run is attempted when its storage fails.
const STORAGE_ATTEMPTS: i64 = 10;

/// What a process has done with a run.
pub(super) enum Outcome {
    Ended {
        status: &'static str,
        result: Value,
    },
    /// It is back in the queue, or another process has it.
    Requeued,
}

/// An attempt to carry out a run.
pub(super) struct Attempt {
    pub(super) result: Result<Finished, AgentError>,
    /// The checkpoint at which the thread was before the run; empty if there was none.
    pub(super) base: String,
    pub(super) usages: Usages,
}

/// Publishes the end of a run, and writes it.
pub(super) async fn finish(
    app: &App,
    live: &Live,
    row: &Run,
    graph: &dyn ErasedGraph,
    mut out: Out,
    attempt: Attempt,
) -> ApiResult<Outcome> {
    let error = match &attempt.result {
        Err(AgentError::Cancelled) | Ok(_) => None,
        Err(error) => Some(problem(error, app.shows_errors)),
    };
    let is_drained = matches!(&attempt.result, Ok(finished) if finished.drained);
    let is_repeated = has_storage_failed(&attempt.result) && live.claim.attempt < STORAGE_ATTEMPTS;
    let is_requeued = is_drained || is_repeated;
    if !is_requeued && !live.is_revoked() && !out.has_failed() {
        let status = end_status(&attempt.result);
        out.push(StreamEvent::ended(status, error.clone())).await;
    }
    let stored = out.finish().await;
    if live.is_revoked() || stored == Stored::Revoked {
        return Ok(Outcome::Requeued);
    }
    if is_drained && stored != Stored::Failed {
        app.rows.give_back(&live.claim).await?;
        return Ok(Outcome::Requeued);
    }
    if is_repeated || stored == Stored::Failed {
        requeue(app, &live.claim).await;
        return Ok(Outcome::Requeued);
    }
    let mut pause = Duration::from_millis(50);
    loop {
        match write_end(app, live, row, graph, &attempt, error.as_ref()).await {
            // The run has ended: it is not carried out again because this cannot be written now.
            Err(failure) if failure.is_storage() && !live.is_revoked() => {
                tracing::warn!(error = ?failure, "failed to write the end of a run; trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
            written => return written,
        }
    }
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
        // The answer of a strict client changes nothing: the thread stays as it was.
        Err(error) if is_refused(row, error) => {
            let head = graph.head(&row.thread_id).await?;
            let is_done = head.is_none_or(|head| head.is_done);
            FinalStatus {
                run: "error",
                thread: if is_done { "idle" } else { "interrupted" },
                error: Value::Null,
                result: failure,
            }
        }
        // The answer was refused: its interrupt is open as before.
        Err(_) if is_resume(row) && has_interrupts(graph, &row.thread_id).await? => FinalStatus {
            run: "error",
            thread: "interrupted",
            error: Value::Null,
            result: failure,
        },
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

/// Returns true if a run has changed nothing, because its answer was for no open interrupt.
fn is_refused(row: &Run, error: &AgentError) -> bool {
    let unknown = matches!(
        error,
        AgentError::Checkpoint(CheckpointError::NothingToResume { .. })
    );
    unknown && row.kwargs.strict_resume
}

fn is_resume(row: &Run) -> bool {
    let command = row.kwargs.command.as_ref();
    command.is_some_and(|command| !command.resume.is_null())
}

async fn has_interrupts(graph: &dyn ErasedGraph, thread: &str) -> ApiResult<bool> {
    let state = graph.state(thread, None, false).await?;
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
    error: Option<&RunError>,
) -> ApiResult<Outcome> {
    let (run, thread) = (row.run_id.as_str(), row.thread_id.as_str());
    let writer = Writer::Run(&live.claim);
    let is_cancelled = matches!(attempt.result, Err(AgentError::Cancelled));
    if is_cancelled && live.action() == Some(Cancel::Rollback) {
        match attempt.base.parse() {
            Ok(before) => graph.restore(thread, before).await?,
            Err(_) => graph.delete(thread).await?,
        }
        let update = ThreadStatusUpdate::new("idle");
        write_thread(app, writer, graph, thread, update).await?;
        app.rows.finish(&live.claim, "interrupted").await?;
        app.rows.delete_run(run).await?;
        return Ok(Outcome::Ended {
            status: "interrupted",
            result: json!({}),
        });
    }
    let FinalStatus {
        run: status,
        thread: thread_status,
        error,
        result,
    } = final_status(row, graph, &attempt.result, error).await?;
    let update = ThreadStatusUpdate {
        status: thread_status,
        error,
        usages: attempt.usages.clone(),
    };
    write_thread(app, writer, graph, thread, update).await?;
    if app.rows.is_shared() {
        app.rows.set_result(run, &result).await?;
    }
    if live.feed.is_stored {
        app.rows.end_numbers(run, live.feed.next_number()).await?;
    }
    if app.rows.finish(&live.claim, status).await? {
        Ok(Outcome::Ended { status, result })
    } else {
        Ok(Outcome::Requeued)
    }
}

/// What the row of a thread says besides its state.
pub(crate) struct ThreadStatusUpdate<'a> {
    pub(crate) status: &'a str,
    pub(crate) error: Value,
    /// What messages have cost that are new. The row says it of the others.
    pub(crate) usages: Usages,
}

impl<'a> ThreadStatusUpdate<'a> {
    pub(crate) fn new(status: &'a str) -> Self {
        Self {
            status,
            error: Value::Null,
            usages: Usages::default(),
        }
    }
}

/// Writes what the row of a thread says of its state.
pub(crate) async fn write_thread(
    app: &App,
    writer: Writer<'_>,
    graph: &dyn ErasedGraph,
    thread: &str,
    update: ThreadStatusUpdate<'_>,
) -> ApiResult<()> {
    let ThreadStatusUpdate {
        status,
        error,
        usages,
    } = update;
    let state = graph.state(thread, None, false).await?;
    let state = state.unwrap_or_else(|| json!({"values": null, "tasks": []}));
    let mut interrupts = json!({});
    for task in state["tasks"].as_array().into_iter().flatten() {
        let open = task["interrupts"].as_array();
        let is_open = open.is_some_and(|open| !open.is_empty());
        if let (Some(id), true) = (task["id"].as_str(), is_open) {
            interrupts[id] = task["interrupts"].clone();
        }
    }
    // A thread that was stopped, or has failed, is not woken.
    let waits = status == "interrupted" && error.is_null();
    let wakes = waits.then(|| first_due(thread, &interrupts)).flatten();
    let change = |row: &mut Thread| {
        row.wakes = wakes;
        status.clone_into(&mut row.status);
        let mut values = state["values"].clone();
        usages.write(&mut values);
        let mut known = Usages::default();
        known.read(&row.values);
        known.write(&mut values);
        row.values = values;
        row.interrupts = interrupts.clone();
        row.error = error.clone();
        row.state_updated_at = now();
    };
    app.rows.change_thread_as(writer, thread, change).await?;
    Ok(())
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

/// Ends a run that the server could not carry out.
pub(super) async fn fail_run(app: &App, live: &Live, row: &Run) -> Outcome {
    if live.is_revoked() {
        return Outcome::Requeued;
    }
    let error = RunError::internal();
    let event = StreamEvent::ended(EndStatus::Failed, Some(error.clone()));
    let result = json!({"__error__": error.json()});
    let written = async {
        if live.feed.is_stored && !live.feed.has_end() {
            let logged = event.logged(live.feed.next_number())?;
            app.rows.append(&live.claim, &[logged]).await?;
        }
        write_failure(app, Writer::Run(&live.claim), row, &error).await?;
        ApiResult::Ok(app.rows.finish(&live.claim, "error").await?)
    };
    match written.await {
        Ok(false) => return Outcome::Requeued,
        Ok(true) => {}
        Err(error) => {
            tracing::error!(?error, "failed to write the end of a run");
            requeue(app, &live.claim).await;
            return Outcome::Requeued;
        }
    }
    if !live.feed.has_end() {
        live.feed.add(event);
    }
    Outcome::Ended {
        status: "error",
        result,
    }
}

async fn write_failure(
    app: &App,
    writer: Writer<'_>,
    row: &Run,
    error: &RunError,
) -> ApiResult<()> {
    let change = |thread: &mut Thread| {
        "error".clone_into(&mut thread.status);
        thread.error = error.json();
    };
    app.rows
        .change_thread_as(writer, &row.thread_id, change)
        .await?;
    let result = json!({"__error__": error.json()});
    Ok(app.rows.set_result(&row.run_id, &result).await?)
}

/// Writes the end of a run that was attempted too often.
pub(super) async fn fail_lost_run(app: &Arc<App>, run: &str) -> ApiResult<()> {
    let Some(row) = app.rows.run_of_id(run).await? else {
        return Ok(());
    };
    let error = RunError::internal();
    write_failure(app, Writer::Anyone, &row, &error).await?;
    let result = json!({"__error__": error.json()});
    announce_end(app, &row, "error", &result).await;
    Ok(())
}

/// Sends the webhook of a run that has ended, and removes its thread if it is temporary.
pub(super) async fn announce_end(app: &Arc<App>, row: &Run, status: &str, result: &Value) {
    app.webhooks.send(row, status, result);
    if row.kwargs.temporary {
        delete_temporary_thread(app, &row.thread_id).await;
    }
}
