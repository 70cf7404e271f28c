//! Tasks of A2A: a run, with those by which the clock has gone on with it.

use axum::http::StatusCode;
use serde_json::Value;
use uuid::Uuid;

use crate::encode::a2a::{last_text, reply};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::queue::Cancel;
use crate::routes::json_rpc::RpcFailure;
use crate::rows::{Run, Thread};
use crate::runs::{attach, cancel, give_up};
use crate::threads;
use crate::wire::a2a::{State, StatusMessage, Version};
use crate::wire::sleep::all_sleep_until;

/// The code of A2A for a task that does not exist.
const NO_SUCH_TASK: i64 = -32001;

pub(super) async fn find(app: &Access, params: &Value) -> Result<Run, RpcFailure> {
    // Version 1.0 has names of resources in some bindings: `tasks/<id>`.
    let id = params["id"].as_str().or_else(|| params["name"].as_str());
    let id = id.and_then(|id| id.rsplit('/').next());
    run_of(app, id.unwrap_or_default()).await
}

/// Returns the run of a task that the user sees.
pub(super) async fn run_of(app: &Access, id: &str) -> Result<Run, RpcFailure> {
    let missing = || RpcFailure::new(NO_SUCH_TASK, "there is no such task");
    let id = id.parse::<Uuid>().map_err(|_| missing())?.to_string();
    let run = app.rows.run_of_id(&id).await.map_err(ApiError::from)?;
    let run = run.ok_or_else(missing)?;
    let thread = threads::seen(app, &run.thread_id).await?;
    thread.map(|_| run).ok_or_else(missing)
}

pub(super) async fn task(app: &Access, form: Version, task: &Run) -> Result<Value, RpcFailure> {
    let (run, thread) = &newest_of(app, task).await?;
    let mut values = if run.is_open() {
        Value::Null
    } else {
        attach(app, run).await?.result().await.unwrap_or_default()
    };
    let state = state_at(app, task, run, thread).await?;
    if state == State::InputRequired {
        threads::retain_open(thread, &mut values);
    }
    let (reply, says) = outcome(state, &values);
    let (task, reply) = (&task.run_id, reply.as_deref());
    Ok(form.task(task, &run.thread_id, state, reply, says.as_ref()))
}

/// Returns the state of a task whose newest run is that one, if its thread stands so.
pub(super) async fn state_at(
    app: &Access,
    task: &Run,
    run: &Run,
    thread: &Thread,
) -> ApiResult<State> {
    Ok(match &*run.status {
        "pending" if run.run_id == task.run_id => State::Submitted,
        "pending" | "running" => State::Working,
        "error" | "timeout" => State::Failed,
        "interrupted" => State::Canceled,
        _ if has_paused(app, thread, run).await? => match threads::sleeps_until(thread) {
            Some(_) => State::Working,
            None => State::InputRequired,
        },
        // What it has asked is answered.
        _ => State::Completed,
    })
}

/// Returns the newest run of a task, and its thread, as both were at one time.
async fn newest_of(app: &Access, task: &Run) -> ApiResult<(Run, Thread)> {
    let mut run = continued(app, task).await?;
    loop {
        let thread = threads::find(app, &task.thread_id).await?;
        let now = continued(app, task).await?;
        if now.run_id == run.run_id && now.status == run.status {
            return Ok((run, thread));
        }
        run = now;
    }
}

/// Returns the run with which the clock has gone on last with a task, or the one of its message, as they are now.
pub(super) async fn continued(app: &Access, task: &Run) -> ApiResult<Run> {
    let task = app.rows.run_of_id(&task.run_id).await?;
    let task = task.ok_or_else(|| ApiError::not_found("there is no such task"))?;
    // What has failed, or was cancelled, is not gone on with.
    let continued = match &*task.status {
        "success" => app.rows.continued(&task.thread_id, &task.run_id).await?,
        _ => None,
    };
    Ok(continued.unwrap_or(task))
}

/// Cancels a task that works, sleeps, or waits for input. Returns false if it has ended.
pub(super) async fn cancelled(app: &Access, task: &Run) -> ApiResult<bool> {
    let mut refused: Option<(String, ApiError)> = None;
    loop {
        let (run, thread) = &newest_of(app, task).await?;
        if run.is_open() {
            if cancel(app, &run.run_id, Cancel::Interrupt).await? {
                return Ok(true);
            }
            // It has just ended, maybe with a pause.
            continue;
        }
        if !has_paused(app, thread, run).await? {
            return Ok(false);
        }
        if let Some((_, error)) = refused.take_if(|(same, _)| *same == run.run_id) {
            return Err(error);
        }
        match give_up(app, thread, &run.run_id).await {
            // A run has the thread now: that of the clock is one of the task.
            Err(error) if error.status() == StatusCode::CONFLICT => {
                refused = Some((run.run_id.clone(), error));
            }
            done => return done.map(|()| true),
        }
    }
}

/// Returns true if a run has paused its thread, which still waits there: for answers, or at a breakpoint.
async fn has_paused(app: &Access, thread: &Thread, run: &Run) -> ApiResult<bool> {
    let waits = run.status == "success" && thread.status == "interrupted";
    Ok(waits && has_left(app, thread, run).await?)
}

/// Returns true if the state of a thread is as the run has left it.
async fn has_left(app: &Access, thread: &Thread, run: &Run) -> ApiResult<bool> {
    if let Some(left_by) = &thread.left_by {
        return Ok(*left_by == run.run_id);
    }
    // Rows of before do not say which run has left them: the newest one has.
    let newest = app.rows.newest_run(&thread.thread_id).await?;
    Ok(newest.is_some_and(|newest| newest.run.run_id == run.run_id))
}

/// Returns the ids and the payloads of the interrupts with which a run has ended.
pub(super) fn open_interrupts(values: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let open = values["__interrupt__"].as_array().into_iter().flatten();
    open.map(|open| (open["id"].as_str().unwrap_or_default(), &open["value"]))
}

/// Returns what a task in that state shows of the result of its run: what it has come to, and what its status says.
pub(super) fn outcome(state: State, values: &Value) -> (Option<String>, Option<StatusMessage>) {
    match state {
        State::Failed => {
            let message = values["__error__"]["message"].as_str();
            (None, message.map(StatusMessage::text))
        }
        State::InputRequired => {
            let open: Vec<_> = open_interrupts(values).collect();
            (last_text(values), StatusMessage::requires(&open))
        }
        State::Working => {
            let open = open_interrupts(values).map(|(_, payload)| payload);
            let until = all_sleep_until(open);
            (last_text(values), until.map(StatusMessage::sleeps))
        }
        State::Completed => (reply(values), None),
        _ => (last_text(values), None),
    }
}
