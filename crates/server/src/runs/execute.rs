//! One run, from its claim to the rows that it leaves.

use std::sync::Arc;
use std::time::Duration;

use langgraph::AgentError;
use langgraph::checkpoint::CheckpointError;
use langgraph_queue::{Cancel, Claim, EventLog, RunQueue};
use serde_json::{Value, json};

use super::frame::Frame;
use super::frames::{Frames, waiting};
use super::live::Live;
use super::request::{Spec, spec};
use super::submit::load;
use super::told::{AfterEvents, Out, Questions, Teller};
use super::wake::first_due;
use crate::app::App;
use crate::error::{ApiResult, problem};
use crate::graph::{ErasedGraph, Finished, Start};
use crate::rows::{Run, Thread, Writer};
use crate::wire::time::now;
use crate::wire::usage::Usages;

/// How long a thread is held without a renewal. The queue, and not this, says who runs.
const TERM: Duration = Duration::from_secs(600);

/// Carries out a run that was claimed.
pub(super) async fn execute(app: &Arc<App>, mut claim: Claim) {
    // It is not needed again.
    let payload = std::mem::take(&mut claim.payload);
    let row: Arc<Run> = match serde_json::from_str(&payload) {
        Ok(row) => Arc::new(row),
        Err(error) => {
            tracing::error!(%error, "a run cannot be read");
            let _ = app.rows.finish(&claim, "error").await;
            return;
        }
    };
    drop(payload);
    let feed = app.runs.feeds.of(&claim.run, app.keeps(&row));
    let live = Arc::new(Live::new(claim, feed));
    if let Some(action) = live.claim.cancel {
        live.stop(action);
    }
    app.runs.live.add(&live);
    if app.runs.is_draining() {
        live.token.drain();
    }
    let task = tokio::spawn({
        let (app, live, row) = (Arc::clone(app), Arc::clone(&live), Arc::clone(&row));
        async move { hold(&app, &live, &row).await }
    });
    let done = match task.await {
        Ok(Ok(done)) => done,
        Ok(Err(error)) => {
            tracing::error!(?error, "a run could not be carried out");
            broken(app, &live, &row).await
        }
        Err(error) => {
            tracing::error!(%error, "a run broke off");
            broken(app, &live, &row).await
        }
    };
    live.feed.set_local(false);
    app.runs.live.remove(&live);
    match done {
        Done::Ended(result) => {
            live.feed.end(Some(result.clone()));
            app.webhooks.send(&app.rows, &row, &result).await;
            if row.kwargs["temporary"] == json!(true) {
                tidy(app, &row.thread_id).await;
            }
        }
        Done::Elsewhere => {}
    }
}

/// How this process is done with a run.
enum Done {
    Ended(Value),
    /// It is back in the queue, or somebody else has it.
    Elsewhere,
}

/// The error of a run that the server could not carry out.
pub(super) fn lost() -> Value {
    json!({"error": "InternalServerError", "message": "the server could not carry out the run"})
}

/// Ends a run that the server could not carry out. The log of the program says why.
async fn broken(app: &App, live: &Live, row: &Run) -> Done {
    if live.is_lost() {
        return Done::Elsewhere;
    }
    let problem = lost();
    let result = json!({"__error__": problem});
    let frame = Frame::new("", "error", &problem);
    let written = async {
        if live.feed.resumable {
            let number = i64::try_from(live.feed.len()).unwrap_or(i64::MAX);
            app.rows
                .append(&live.claim, &[frame.logged(number)])
                .await?;
        }
        let change = |thread: &mut Thread| {
            "error".clone_into(&mut thread.status);
            thread.error = problem.clone();
        };
        let writer = Writer::Run(&live.claim);
        app.rows
            .change_thread_as(writer, &row.thread_id, change)
            .await?;
        app.rows.set_result(&row.run_id, &result).await?;
        ApiResult::Ok(app.rows.finish(&live.claim, "error").await?)
    };
    match written.await {
        Ok(false) => return Done::Elsewhere,
        Ok(true) => {}
        Err(error) => tracing::error!(?error, "the end of a run cannot be written"),
    }
    live.feed.push([frame]);
    Done::Ended(result)
}

/// Removes the thread of a run that had none. Streams elsewhere may still read its events.
async fn tidy(app: &Arc<App>, thread: &str) {
    if !app.rows.is_shared() {
        return forget(app, thread).await;
    }
    let (app, thread) = (Arc::clone(app), thread.to_owned());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(30)).await;
        forget(&app, &thread).await;
    });
}

/// Removes a thread that nobody asked for.
pub(super) async fn forget(app: &App, thread: &str) {
    let forgotten = async {
        let Some(row) = app.rows.thread(thread).await? else {
            return Ok(());
        };
        if let Some(graph) = app.graph_of_thread(&row.metadata)? {
            graph.delete(thread).await?;
        }
        app.rows.delete_thread(thread).await?;
        ApiResult::Ok(())
    };
    if let Err(error) = forgotten.await {
        tracing::warn!(?error, "the thread of a run without one remains");
    }
}

/// Holds the thread while the run is carried out. Nobody else writes to it, and the run writes
/// nothing once somebody else has it.
async fn hold(app: &Arc<App>, live: &Arc<Live>, row: &Run) -> ApiResult<Done> {
    let (thread, holder) = (row.thread_id.clone(), live.holder());
    app.saver.seize(&thread, &holder, TERM).await?;
    // A claim that was lost before the thread was taken has taken it from its rightful holder, who
    // then takes it again.
    let held = app.rows.held(&live.claim.run, live.claim.fence).await?;
    // It may have been cancelled after it was claimed, and before this process could hear that.
    if let Some(action) = held.as_ref().and_then(|held| held.cancel) {
        live.stop(action);
    }
    let done = if held.is_some() {
        let mut carried = std::pin::pin!(carry_out(app, live, row));
        loop {
            tokio::select! {
                done = &mut carried => break done,
                () = tokio::time::sleep(TERM / 3) => app.saver.renew(&thread, &holder, TERM).await?,
            }
        }
    } else {
        live.lose();
        Ok(Done::Elsewhere)
    };
    app.saver.release(&thread, &holder).await?;
    done
}

async fn carry_out(app: &Arc<App>, live: &Arc<Live>, row: &Run) -> ApiResult<Done> {
    let (run, thread) = (row.run_id.as_str(), row.thread_id.as_str());
    let planned = spec(row, live.token.clone(), &app.limits)?;
    let holder: Arc<str> = live.holder().into();
    let saver = app.saver.held_by(&holder);
    let graph = app.graph(&planned.graph)?.with_saver(Arc::clone(&saver));
    if live.feed.resumable {
        // What an earlier attempt has told.
        let _one = live.feed.reading.lock().await;
        load(app, &live.feed).await?;
        live.feed.set_local(true);
        app.rows.begin_numbers(run, thread).await?;
    } else {
        live.feed.set_local(true);
    }
    let busy = |thread: &mut Thread| {
        "busy".clone_into(&mut thread.status);
        thread.error = Value::Null;
    };
    let writer = Writer::Run(&live.claim);
    let Some(known) = app.rows.change_thread_as(writer, thread, busy).await? else {
        live.lose();
        return Ok(Done::Elsewhere);
    };
    let mut usages = Usages::default();
    usages.read(&known.values);
    drop(known);
    usages.read(&row.kwargs["input"]);
    usages.read(&row.kwargs["command"]["update"]);

    let (mut out, storing) = if live.feed.has_ended() {
        (Out::Told, None)
    } else if live.feed.resumable {
        let (out, storing) = Out::stored(app, live);
        (out, Some(storing))
    } else {
        (Out::Shown(Arc::clone(live)), None)
    };
    out.push(Frame::new(
        "metadata",
        "metadata",
        &json!({"run_id": run, "attempt": live.claim.attempt}),
    ))
    .await;
    let (saver, asked) = AfterEvents::new(saver);
    let telling = Telling {
        graph: graph.with_saver(saver),
        asked,
        out: &mut out,
        usages: &mut usages,
    };
    let ended = attempt(telling, app, row, planned).await?;
    let problem = match &ended {
        Err((AgentError::Cancelled, _)) | Ok(_) => None,
        Err((error, _)) => Some(problem(error)),
    };
    let stays = match &ended {
        Ok(finished) => !finished.drained,
        // Somebody has taken the thread from this run, which may have to be taken again.
        Err((AgentError::Checkpoint(CheckpointError::LeaseLost { .. }), _)) => false,
        Err(_) => true,
    };
    if let (Some(problem), true) = (&problem, stays && !live.is_lost()) {
        out.push(Frame::new("", "error", problem)).await;
    }
    if live.feed.resumable && stays && !live.is_lost() {
        let end = end(&ended, problem.as_ref());
        out.push(Frame::new("end", "end", &end)).await;
    }
    drop(out);
    settled(storing).await;
    if live.is_lost() {
        return Ok(Done::Elsewhere);
    }
    if !stays {
        app.rows.give_back(&live.claim).await?;
        return Ok(Done::Elsewhere);
    }
    let end = End {
        ended,
        problem: problem.unwrap_or_default(),
        usages,
    };
    conclude(app, live, row, &*graph, end).await
}

/// How a run has ended, and what its thread shall know of it.
struct End {
    ended: Result<Finished, (AgentError, String)>,
    problem: Value,
    usages: Usages,
}

/// Returns what is told of the end of a run.
fn end(ended: &Result<Finished, (AgentError, String)>, problem: Option<&Value>) -> Value {
    let event = match ended {
        Ok(finished) if finished.paused => "interrupted",
        Ok(_) => "completed",
        Err((AgentError::Cancelled, _)) => "interrupted",
        Err(_) => "failed",
    };
    let mut end = json!({"event": event});
    if let Some(problem) = problem {
        end["error"] = problem["message"].clone();
    }
    end
}

/// Writes how a run has ended.
async fn conclude(
    app: &App,
    live: &Live,
    row: &Run,
    graph: &dyn ErasedGraph,
    end: End,
) -> ApiResult<Done> {
    let End {
        ended,
        problem,
        usages,
    } = end;
    let (run, thread) = (row.run_id.as_str(), row.thread_id.as_str());
    let writer = Writer::Run(&live.claim);
    let (status, thread_status, result) = match &ended {
        Ok(finished) if finished.paused => ("success", "interrupted", values_of(finished)),
        Ok(finished) => ("success", "idle", values_of(finished)),
        Err((AgentError::Cancelled, before)) if live.action() == Some(Cancel::Rollback) => {
            match before.parse() {
                Ok(before) => graph.restore(thread, before).await?,
                Err(_) => graph.delete(thread).await?,
            }
            let stands = Stands {
                status: "idle",
                error: Value::Null,
                usages: Usages::default(),
            };
            settle(app, writer, graph, thread, stands).await?;
            app.rows.finish(&live.claim, "interrupted").await?;
            app.rows.delete_run(run).await?;
            return Ok(Done::Ended(json!({})));
        }
        Err((AgentError::Cancelled, _)) => ("interrupted", "interrupted", json!({})),
        // The answer of a strict client was for nothing: the thread stays as it was.
        Err((error, _)) if is_refused(row, error) => {
            let head = graph.head(thread).await?;
            let done = head.is_none_or(|head| head.is_done);
            let stays = if done { "idle" } else { "interrupted" };
            ("error", stays, json!({"__error__": problem}))
        }
        Err((error, _)) => {
            let status = match error {
                AgentError::TimedOut(_) => "timeout",
                _ => "error",
            };
            (status, "error", json!({"__error__": problem}))
        }
    };
    let error = match &ended {
        Err((error @ AgentError::Cancelled, _)) => crate::error::problem(error),
        Err((error, _)) if is_refused(row, error) => Value::Null,
        _ => problem,
    };
    let stands = Stands {
        status: thread_status,
        error,
        usages,
    };
    settle(app, writer, graph, thread, stands).await?;
    if app.rows.is_shared() {
        app.rows.set_result(run, &result).await?;
    }
    if live.feed.resumable {
        app.rows.end_numbers(run, live.feed.len()).await?;
    }
    if app.rows.finish(&live.claim, status).await? {
        Ok(Done::Ended(result))
    } else {
        Ok(Done::Elsewhere)
    }
}

/// Returns true if a run has changed nothing, because nobody waited for its answer.
fn is_refused(row: &Run, error: &AgentError) -> bool {
    let error = matches!(
        error,
        AgentError::Checkpoint(CheckpointError::NothingToResume { .. })
    );
    error && row.kwargs["strict_resume"] == json!(true)
}

async fn settled(storing: Option<tokio::task::JoinHandle<()>>) {
    if let Some(storing) = storing
        && let Err(error) = storing.await
    {
        tracing::error!(%error, "the events of a run are not all stored");
    }
}

/// A graph whose checkpoints wait for its events, and where these go.
struct Telling<'a> {
    graph: Arc<dyn ErasedGraph>,
    asked: Questions,
    out: &'a mut Out,
    usages: &'a mut Usages,
}

/// Runs the graph, from where an earlier attempt has stopped. A failure comes with the checkpoint
/// at which the thread was before the run; empty if there was none.
async fn attempt(
    telling: Telling<'_>,
    app: &App,
    row: &Run,
    mut planned: Spec,
) -> ApiResult<Result<Finished, (AgentError, String)>> {
    let Telling {
        graph,
        asked,
        out,
        usages,
    } = telling;
    let (run, thread) = (row.run_id.as_str(), row.thread_id.as_str());
    let head = match graph.head(thread).await {
        Ok(head) => head,
        // The thread of another graph, say.
        Err(error) => return Ok(Err((error, String::new()))),
    };
    let before = head
        .as_ref()
        .map_or_else(String::new, |head| head.id.to_string());
    let base = app.rows.base(run, &before).await?;
    if let Some(head) = head
        && head.run.as_deref() == Some(run)
    {
        // An earlier attempt has begun: its input, and its command, are in the thread.
        planned.run.start = Start::Proceed;
        planned.run.update = None;
        planned.run.goto = None;
        planned.run.at = None;
        planned.run.inner = None;
        if head.is_done {
            let state = graph.state(thread, None, false).await?.unwrap_or_default();
            let finished = Finished {
                values: state["values"].clone(),
                ..Finished::default()
            };
            return Ok(Ok(finished));
        }
    }
    let mut metadata = row.metadata.clone();
    crate::rows::merge(&mut metadata, &json!({"run_id": run, "thread_id": thread}));
    let frames = Frames::new(planned.modes, run, metadata, std::mem::take(usages));
    let mut teller = Teller { frames, out, asked };
    let mut ended = graph.run(planned.run, &mut teller).await;
    *usages = teller.frames.usages;
    if let Ok(finished) = &mut ended {
        usages.write(&mut finished.values);
    }
    Ok(ended.map_err(|error| (error, base)))
}

fn values_of(finished: &Finished) -> Value {
    let mut values = finished.values.clone();
    if !finished.interrupts.is_empty() && values.is_object() {
        values["__interrupt__"] = finished.interrupts.iter().map(waiting).collect();
    }
    values
}

/// What the row of a thread says beside its state.
pub(crate) struct Stands<'a> {
    pub(crate) status: &'a str,
    pub(crate) error: Value,
    /// What messages have cost that are new. The row says it of the others.
    pub(crate) usages: Usages,
}

/// Writes what the thread's row says of its state.
pub(crate) async fn settle(
    app: &App,
    writer: Writer<'_>,
    graph: &dyn ErasedGraph,
    thread: &str,
    stands: Stands<'_>,
) -> ApiResult<()> {
    let Stands {
        status,
        error,
        usages,
    } = stands;
    let state = graph.state(thread, None, false).await?;
    let state = state.unwrap_or_else(|| json!({"values": null, "tasks": []}));
    let mut interrupts = json!({});
    for task in state["tasks"].as_array().into_iter().flatten() {
        let open = task["interrupts"].as_array();
        if let (Some(id), true) = (
            task["id"].as_str(),
            open.is_some_and(|open| !open.is_empty()),
        ) {
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
