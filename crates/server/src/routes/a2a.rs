//! Assistants as agents of the A2A protocol: JSON-RPC, in version 0.3 and in version 1.0.
//!
//! A context is a thread, and a task is a run.

mod tasks;

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
use crate::encode::a2a::{A2a, state_of};
use crate::error::ApiResult;
use crate::guard::Access;
use crate::rows::{Assistant, Run, Thread};
use crate::runs::{
    Accepted, Disconnect, IfNotExists, Modes, OnCompletion, RunRequest, Standing, accept_at,
};
use crate::spec::{Mode, RunCommand};
use crate::threads::{is_at_breakpoint, is_waiting, refuse_asleep};
use crate::wire::a2a::{Given, State, Version};
use tasks::{cancelled, continued, find, open_interrupts, outcome, run_of, state_at, task};

/// The codes of A2A for a task that has ended: it cannot be cancelled, and takes no message.
const NOT_CANCELABLE: i64 = -32002;
const UNSUPPORTED_OPERATION: i64 = -32004;

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
    let task = match message["taskId"].as_str() {
        Some(task) => Some(run_of(app, task).await?),
        None => None,
    };
    let context = match (&task, context) {
        // The context is that of the task.
        (Some(task), Some(context)) if context != task.thread_id => {
            let message = "`contextId` names another context than that of the task";
            return Err(RpcFailure::invalid_params(message));
        }
        (Some(task), _) => task.thread_id.clone(),
        (None, context) => context.unwrap_or_else(|| langgraph_core::new_id().to_string()),
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
        if let (Some(task), Some(thread)) = (&task, thread) {
            refuse_ended(app, task, thread).await?;
        }
        let request = request_on(request.clone(), given.clone(), thread)?;
        if let Some(accepted) = accept_at(app, &standing, request).await? {
            return Ok(accepted);
        }
    }
}

/// Refuses a message for a task that has ended: it is not for what its context asks now. The protocol asks agents to do so.
async fn refuse_ended(app: &Access, task: &Run, thread: &Thread) -> Result<(), RpcFailure> {
    let newest = continued(app, task).await?;
    if !state_at(app, task, &newest, thread).await?.is_terminal() {
        return Ok(());
    }
    let message = "the task has ended: send the message without a `taskId`";
    Err(RpcFailure::new(UNSUPPORTED_OPERATION, message))
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
