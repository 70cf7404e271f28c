//! Assistants as agents of the A2A protocol: JSON-RPC, in version 0.3 and in version 1.0.
//!
//! A context is a thread, and a task is a run.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use langgraph_http::{Frame, Sse};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::address::{Path, Query};
use super::assistants;
use super::encoded::encoded;
use super::json_rpc::{RpcCall, RpcFailure, read, response};
use super::runs::{event_stream, held, permit};
use super::waiting::{Shown, result_as};
use crate::encode::a2a::{A2a, last_text, reply, state_of};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::queue::Cancel;
use crate::rows::{Assistant, Run, Thread};
use crate::runs::{
    Accepted, Disconnect, IfNotExists, Modes, OnCompletion, RunRequest, Standing, accept_at,
    attach, cancel, give_up,
};
use crate::spec::{Mode, RunCommand};
use crate::threads::{self, is_at_breakpoint, is_waiting, refuse_asleep};
use crate::wire::a2a::{Given, State, StatusMessage, Version};
use crate::wire::sleep::all_sleep_until;

/// The code of A2A for a task that does not exist, and for one that has ended.
const NO_SUCH_TASK: i64 = -32001;
const NOT_CANCELABLE: i64 = -32002;

pub(super) async fn call(app: Access, Path(id): Path<String>, body: Bytes) -> ApiResult<Response> {
    let assistant = assistants::find(&app, &id).await?;
    let call = match read(&body) {
        Ok(call) => call,
        Err(failure) => return Ok(Json(response(&Value::Null, Err(failure))).into_response()),
    };
    let id = call.id.clone().unwrap_or_default();
    let done = answer(&app, &assistant, call).await;
    Ok(done.unwrap_or_else(|failure| Json(response(&id, Err(failure))).into_response()))
}

async fn answer(
    app: &Access,
    assistant: &Assistant,
    call: RpcCall,
) -> Result<Response, RpcFailure> {
    let (form, method) = match &*call.method {
        "message/send" => (Version::V03, "send"),
        "message/stream" => (Version::V03, "stream"),
        "tasks/get" => (Version::V03, "get"),
        "tasks/cancel" => (Version::V03, "cancel"),
        "SendMessage" => (Version::V1, "send"),
        "SendStreamingMessage" => (Version::V1, "stream"),
        "GetTask" => (Version::V1, "get"),
        "CancelTask" => (Version::V1, "cancel"),
        other => return Err(RpcFailure::unknown_method(other)),
    };
    let id = call.id.unwrap_or_default();
    match method {
        "send" => send(app, form, id, assistant, &call.params).await,
        "stream" => stream(app, form, id, assistant, &call.params).await,
        "get" => {
            let run = find(app, &call.params).await?;
            let task = task(app, form, &run).await?;
            Ok(Json(response(&id, Ok(task))).into_response())
        }
        _ => {
            let run = find(app, &call.params).await?;
            if !cancelled(app, &run).await? {
                return Err(RpcFailure::new(NOT_CANCELABLE, "the task has ended"));
            }
            let task = form.task(&run.run_id, &run.thread_id, State::Canceled, None, None);
            Ok(Json(response(&id, Ok(task))).into_response())
        }
    }
}

/// Accepts the run of a message. On a thread that waits for an answer, the message is the answer; at a breakpoint, the
/// run goes on.
async fn begin(
    app: &Access,
    assistant: &Assistant,
    params: &Value,
    modes: Vec<Mode>,
) -> Result<Accepted, RpcFailure> {
    let message = &params["message"];
    if !message["parts"].is_array() {
        return Err(RpcFailure::invalid_params("`message` needs its `parts`"));
    }
    let given = Given::read(&message["parts"]);
    let context = message["contextId"].as_str().map(|id| context(app, id));
    let context = match message["taskId"].as_str() {
        // The context is that of the task.
        Some(task) => {
            let of_task = run_of(app, task).await?.thread_id;
            if context.is_some_and(|context| context != of_task) {
                let message = "`contextId` names another context than that of the task";
                return Err(RpcFailure::invalid_params(message));
            }
            of_task
        }
        None => context.unwrap_or_else(|| langgraph_core::new_id().to_string()),
    };
    let request = RunRequest {
        assistant_id: assistant.assistant_id.clone(),
        if_not_exists: Some(IfNotExists::Create),
        on_completion: Some(OnCompletion::Keep),
        stream_mode: Some(Modes(modes)),
        ..RunRequest::default()
    };
    loop {
        let standing = Standing::of(app, &context).await?;
        let thread = standing.thread.as_ref();
        let request = request_on(request.clone(), given.clone(), thread)?;
        if let Some(accepted) = accept_at(app, &standing, request).await? {
            return Ok(accepted);
        }
    }
}

/// Returns what a message asks for on a thread that stands so.
fn request_on(
    mut request: RunRequest,
    given: Given,
    thread: Option<&Thread>,
) -> ApiResult<RunRequest> {
    match thread {
        Some(thread) if is_waiting(thread) => {
            request.command = Some(RunCommand::resume(given.answer()));
        }
        // Its text is no message of the state: what was paused may be tool calls, whose results come next.
        Some(thread) if is_at_breakpoint(thread) => {
            request.command = given.update().map(RunCommand::update);
        }
        thread => {
            thread.map_or(Ok(()), refuse_asleep)?;
            request.input = given.input();
        }
    }
    Ok(request)
}

/// Returns the thread of a context. An id that is no UUID becomes one, for each owner another.
fn context(app: &Access, id: &str) -> String {
    match id.parse::<Uuid>() {
        Ok(id) => id.to_string(),
        Err(_) => app.derived_id("a2a", app.owner(), id).to_string(),
    }
}

async fn send(
    app: &Access,
    form: Version,
    id: Value,
    assistant: &Assistant,
    params: &Value,
) -> Result<Response, RpcFailure> {
    let given = &params["configuration"];
    let waits = given["blocking"] != false && given["returnImmediately"] != true;
    let permit = waits.then(|| permit(app)).transpose()?;
    let run = begin(app, assistant, params, vec![Mode::Values]).await?;
    let (task, thread) = (run.row.run_id.clone(), run.row.thread_id.clone());
    let Some(permit) = permit else {
        let task = form.task(&task, &thread, State::Submitted, None, None);
        return Ok(Json(response(&id, Ok(form.wrapped(task)))).into_response());
    };
    let guard = Disconnect::new(app, &task, run.cancel_on_disconnect);
    // Its events are not read: the run must not wait for them.
    drop(run.events);
    let feed = Arc::clone(&run.feed);
    let shown: Shown = Box::new(move |values| {
        let open = open_interrupts(&values).map(|(_, payload)| payload);
        let state = feed
            .end_status()
            .map_or(State::Completed, |end| state_of(end, open));
        let (reply, says) = outcome(state, &values);
        let task = form.task(&task, &thread, state, reply.as_deref(), says.as_ref());
        response(&id, Ok(form.wrapped(task)))
    });
    let response = result_as(run.feed, guard, HeaderMap::new(), shown).await;
    Ok(held(permit, response))
}

async fn stream(
    app: &Access,
    form: Version,
    id: Value,
    assistant: &Assistant,
    params: &Value,
) -> Result<Response, RpcFailure> {
    let permit = permit(app)?;
    let modes = vec![Mode::Values, Mode::MessagesTuple];
    let run = begin(app, assistant, params, modes).await?;
    let guard = Disconnect::new(app, &run.row.run_id, run.cancel_on_disconnect);
    let encoder = A2a::new(form, id.clone(), &run.row.run_id, &run.row.thread_id);
    let frames = encoded(run.events, encoder, guard);
    // This protocol cannot continue a stream that breaks off.
    let frames = frames.map(move |frame| {
        frame.unwrap_or_else(|_| {
            let failure = RpcFailure::new(-32603, "the server stops; try again");
            Frame::data_only(response(&id, Err(failure)).to_string())
        })
    });
    let sse = Sse::new(frames.boxed());
    Ok(event_stream(permit, HeaderMap::new(), sse))
}

async fn find(app: &Access, params: &Value) -> Result<Run, RpcFailure> {
    // Version 1.0 has names of resources in some bindings: `tasks/<id>`.
    let id = params["id"].as_str().or_else(|| params["name"].as_str());
    let id = id.and_then(|id| id.rsplit('/').next());
    run_of(app, id.unwrap_or_default()).await
}

/// Returns the run of a task that the user sees.
async fn run_of(app: &Access, id: &str) -> Result<Run, RpcFailure> {
    let missing = || RpcFailure::new(NO_SUCH_TASK, "there is no such task");
    let id = id.parse::<Uuid>().map_err(|_| missing())?.to_string();
    let run = app.rows.run_of_id(&id).await.map_err(ApiError::from)?;
    let run = run.ok_or_else(missing)?;
    let thread = threads::seen(app, &run.thread_id).await?;
    thread.map(|_| run).ok_or_else(missing)
}

async fn task(app: &Access, form: Version, task: &Run) -> Result<Value, RpcFailure> {
    let (run, thread) = &newest_of(app, task).await?;
    let values = if run.is_open() {
        Value::Null
    } else {
        attach(app, run).await?.result().await.unwrap_or_default()
    };
    let state = match &*run.status {
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
    };
    let (reply, says) = outcome(state, &values);
    let (task, reply) = (&task.run_id, reply.as_deref());
    Ok(form.task(task, &run.thread_id, state, reply, says.as_ref()))
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

/// Returns the run with which the clock has gone on last with a task, or the one of its message.
async fn continued(app: &Access, task: &Run) -> ApiResult<Run> {
    // What has failed, or was cancelled, is not gone on with.
    let continued = match &*task.status {
        "success" => app.rows.continued(&task.thread_id, &task.run_id).await?,
        _ => None,
    };
    Ok(continued.unwrap_or_else(|| task.clone()))
}

/// Cancels a task that works, sleeps, or waits for input. Returns false if it has ended.
async fn cancelled(app: &Access, task: &Run) -> ApiResult<bool> {
    let (run, thread) = &newest_of(app, task).await?;
    if run.is_open() {
        return cancel(app, &run.run_id, Cancel::Interrupt).await;
    }
    let waits = has_paused(app, thread, run).await?;
    if waits {
        give_up(app, thread, &run.run_id).await?;
    }
    Ok(waits)
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
fn open_interrupts(values: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let open = values["__interrupt__"].as_array().into_iter().flatten();
    open.map(|open| (open["id"].as_str().unwrap_or_default(), &open["value"]))
}

/// Returns what a task in that state shows of the result of its run: what it has come to, and what its status says.
fn outcome(state: State, values: &Value) -> (Option<String>, Option<StatusMessage>) {
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

#[derive(Deserialize)]
pub(super) struct OfAssistant {
    assistant_id: String,
}

pub(super) async fn card(
    app: Access,
    Query(query): Query<OfAssistant>,
    headers: HeaderMap,
) -> ApiResult<Json<Value>> {
    described(&app, &query.assistant_id, &headers).await
}

pub(super) async fn card_of(
    app: Access,
    Path(assistant): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Json<Value>> {
    described(&app, &assistant, &headers).await
}

/// Returns the card of an assistant, for clients of both versions.
async fn described(app: &Access, id: &str, headers: &HeaderMap) -> ApiResult<Json<Value>> {
    let assistant = assistants::find(app, id).await?;
    let header =
        |name: &header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = header(&header::HOST).unwrap_or("localhost");
    let scheme = headers.get("x-forwarded-proto");
    let scheme = scheme.and_then(|scheme| scheme.to_str().ok());
    let scheme = scheme.filter(|scheme| *scheme == "https").unwrap_or("http");
    let url = format!("{scheme}://{host}/a2a/{}", assistant.assistant_id);
    let description = assistant
        .description
        .clone()
        .unwrap_or_else(|| format!("Runs the graph `{}`.", assistant.graph_id));
    Ok(Json(json!({
        "protocolVersion": "0.3.0",
        "name": assistant.name,
        "description": description,
        "version": env!("CARGO_PKG_VERSION"),
        "url": url,
        "preferredTransport": "JSONRPC",
        "supportedInterfaces": [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        ],
        "capabilities": {"streaming": true, "pushNotifications": false},
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{
            "id": assistant.graph_id, "name": assistant.name, "description": description,
            "tags": ["langgraph"],
        }],
    })))
}
