//! Runs: in the background, waited for, streamed.

use std::sync::Arc;

use axum::Json;
use axum::body::Body as HttpBody;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::query::{Body, page, selected, thread_id, uuid};
use super::search::ten;
use super::threads::{find, make};
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::rows::{Run, Thread, contains, merge};
use crate::runs::{
    CancelAction, Disconnect, Frame, Live, RunRequest, joined, modes, plan, streamed, submit,
};

/// A run that was accepted.
struct Accepted {
    live: Arc<Live>,
    row: Run,
    cancel_on_disconnect: bool,
    stateless: bool,
}

impl Accepted {
    /// Returns the headers that say where the run is.
    fn headers(&self, suffix: &str) -> HeaderMap {
        let run = &self.row.run_id;
        let place = if self.stateless {
            format!("/runs/{run}")
        } else {
            format!("/threads/{}/runs/{run}", self.row.thread_id)
        };
        headers(&place, suffix)
    }

    fn guard(&self, app: &Arc<App>) -> Disconnect {
        Disconnect::new(app, &self.live, self.cancel_on_disconnect)
    }
}

fn headers(place: &str, suffix: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut set = |name: header::HeaderName, value: String| {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_LOCATION, place.to_owned());
    if !suffix.is_empty() {
        set(header::LOCATION, format!("{place}/{suffix}"));
    }
    headers
}

/// Permits one more stream.
fn permit(app: &App) -> ApiResult<OwnedSemaphorePermit> {
    let permit = Arc::clone(&app.streams).try_acquire_owned();
    permit.map_err(|_| ApiError::too_many("too many streams are open"))
}

fn event_stream(permit: OwnedSemaphorePermit, mut headers: HeaderMap, body: HttpBody) -> Response {
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    let body = body.into_data_stream().map(move |bytes| {
        let _held = &permit;
        bytes
    });
    (headers, HttpBody::from_stream(body)).into_response()
}

/// Accepts a run: on a thread, or on one that lives as long as the run.
fn accept(app: &Access, thread: Option<&str>, request: RunRequest) -> ApiResult<Accepted> {
    let create = request.if_not_exists.as_deref() == Some("create");
    let thread = thread.map(thread_id).transpose()?;
    let (planned, assistant) = plan(app, thread.as_deref(), request)?;
    let own = json!({
        "graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id,
    });
    let id = &planned.row.thread_id;
    if thread.is_none() || create {
        make(app, &Thread::new(id.clone(), app.owner(), own.clone()))?;
    }
    let found = app.rows.thread(id)?;
    if !found.is_some_and(|thread| app.sees(&thread.owner)) {
        return Err(ApiError::not_found("Thread or assistant not found."));
    }
    let known = app.rows.change_thread(id, |thread| {
        merge(&mut thread.metadata, &own);
    })?;
    if known.is_none() {
        return Err(ApiError::not_found("Thread or assistant not found."));
    }
    let row = planned.row.clone();
    let cancel_on_disconnect = planned.cancel_on_disconnect;
    Ok(Accepted {
        live: submit(app, planned)?,
        row,
        cancel_on_disconnect,
        stateless: thread.is_none(),
    })
}

fn created(app: &Access, thread: Option<&str>, request: RunRequest) -> ApiResult<Response> {
    let run = accept(app, thread, request)?;
    Ok((run.headers(""), Json(run.row.json())).into_response())
}

async fn waited(app: &Access, thread: Option<&str>, request: RunRequest) -> ApiResult<Response> {
    let run = accept(app, thread, request)?;
    let mut guard = run.guard(app);
    let result = run.live.result().await;
    guard.disarm();
    Ok((run.headers("join"), Json(result)).into_response())
}

fn streaming(app: &Access, thread: Option<&str>, request: RunRequest) -> ApiResult<Response> {
    let permit = permit(app)?;
    let run = accept(app, thread, request)?;
    let body = streamed(Arc::clone(&run.live), 0, Vec::new(), run.guard(app));
    Ok(event_stream(permit, run.headers("stream"), body))
}

pub(super) async fn create(
    app: Access,
    Path(thread): Path<String>,
    Body(request): Body<RunRequest>,
) -> ApiResult<Response> {
    created(&app, Some(&thread), request)
}

pub(super) async fn create_stateless(
    app: Access,
    Body(request): Body<RunRequest>,
) -> ApiResult<Response> {
    created(&app, None, request)
}

pub(super) async fn batch(
    app: Access,
    Body(requests): Body<Vec<RunRequest>>,
) -> ApiResult<Json<Vec<Value>>> {
    let runs = requests
        .into_iter()
        .map(|request| accept(&app, None, request));
    runs.map(|run| Ok(run?.row.json()))
        .collect::<ApiResult<_>>()
        .map(Json)
}

pub(super) async fn wait(
    app: Access,
    Path(thread): Path<String>,
    Body(request): Body<RunRequest>,
) -> ApiResult<Response> {
    waited(&app, Some(&thread), request).await
}

pub(super) async fn wait_stateless(
    app: Access,
    Body(request): Body<RunRequest>,
) -> ApiResult<Response> {
    waited(&app, None, request).await
}

pub(super) async fn stream(
    app: Access,
    Path(thread): Path<String>,
    Body(request): Body<RunRequest>,
) -> ApiResult<Response> {
    streaming(&app, Some(&thread), request)
}

pub(super) async fn stream_stateless(
    app: Access,
    Body(request): Body<RunRequest>,
) -> ApiResult<Response> {
    streaming(&app, None, request)
}

#[derive(Deserialize)]
pub(super) struct List {
    #[serde(default = "ten")]
    limit: usize,
    #[serde(default)]
    offset: usize,
    status: Option<String>,
    metadata: Option<String>,
}

pub(super) async fn list(
    app: Access,
    Path(thread): Path<String>,
    Query(query): Query<List>,
) -> ApiResult<Response> {
    let thread = find(&app, &thread)?.thread_id;
    let metadata: Value = match &query.metadata {
        Some(text) => serde_json::from_str(text)?,
        None => Value::Null,
    };
    let runs = app.rows.runs(&thread)?.into_iter().filter(|run| {
        query
            .status
            .as_ref()
            .is_none_or(|status| *status == run.status)
            && contains(&run.metadata, &metadata)
    });
    let found = runs.map(|run| selected(run.json(), None)).collect();
    Ok(page(found, query.limit, query.offset, None))
}

fn find_run(app: &Access, thread: &str, run: &str) -> ApiResult<Run> {
    let thread = find(app, thread)?.thread_id;
    let run = uuid("run", run)?;
    let found = app.rows.run(&thread, &run)?;
    found.ok_or_else(|| ApiError::not_found(format!("Run with ID {run} not found")))
}

pub(super) async fn read(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
) -> ApiResult<Json<Value>> {
    Ok(Json(find_run(&app, &thread, &run)?.json()))
}

pub(super) async fn remove(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    let run = find_run(&app, &thread, &run)?;
    if app.runs.live(&run.thread_id, &run.run_id).is_some() {
        return Err(ApiError::conflict(
            "Run is under way; cancel it before it is deleted.",
        ));
    }
    app.rows.delete_run(&run.run_id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// The query of a join. Clients repeat `stream_mode`, and write numbers for truth.
#[derive(Default, Deserialize)]
#[serde(from = "Vec<(String, String)>")]
pub(super) struct Join {
    cancel_on_disconnect: bool,
    stream_mode: Vec<String>,
}

impl From<Vec<(String, String)>> for Join {
    fn from(pairs: Vec<(String, String)>) -> Self {
        let mut join = Self::default();
        for (name, value) in pairs {
            match name.as_str() {
                "cancel_on_disconnect" => {
                    join.cancel_on_disconnect = matches!(value.as_str(), "1" | "true");
                }
                "stream_mode" => join.stream_mode.push(value),
                _ => {}
            }
        }
        join
    }
}

pub(super) async fn join(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
    Query(query): Query<Join>,
) -> ApiResult<Response> {
    let run = find_run(&app, &thread, &run)?;
    let place = format!("/threads/{}/runs/{}", run.thread_id, run.run_id);
    let result = match app.runs.live(&run.thread_id, &run.run_id) {
        Some(live) => {
            let mut guard = Disconnect::new(&app, &live, query.cancel_on_disconnect);
            let result = live.result().await;
            guard.disarm();
            result
        }
        None => find(&app, &thread)?.values,
    };
    Ok((headers(&place, "join"), Json(result)).into_response())
}

/// Reads `stream_mode` of a query: modes, with commas or repeated, or a JSON list.
fn modes_in(query: &Join) -> ApiResult<Vec<String>> {
    let mut listed: Vec<Value> = Vec::new();
    for given in &query.stream_mode {
        if given.starts_with('[') {
            listed.extend(serde_json::from_str::<Vec<Value>>(given)?);
        } else {
            let named = given.split(',').filter(|mode| !mode.is_empty());
            listed.extend(named.map(Value::from));
        }
    }
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    modes(Some(&Value::Array(listed)))
}

/// Streams a run from the event after `Last-Event-ID`; without one, from now on.
fn join_live(
    app: &Arc<App>,
    live: Arc<Live>,
    place: &str,
    headers_in: &HeaderMap,
    query: &Join,
) -> ApiResult<Response> {
    let modes = modes_in(query)?;
    let after = last_event(headers_in).filter(|_| live.resumable);
    let from = match after {
        Some(after) => usize::try_from(after + 1).unwrap_or(0),
        None => live.log.len(),
    };
    let permit = permit(app)?;
    let guard = Disconnect::new(app, &live, query.cancel_on_disconnect);
    let body = streamed(live, from, modes, guard);
    Ok(event_stream(permit, headers(place, "stream"), body))
}

fn last_event(headers: &HeaderMap) -> Option<i64> {
    Frame::seq_of(headers.get("last-event-id")?.to_str().ok()?)
}

pub(super) async fn join_stream(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
    Query(query): Query<Join>,
    headers_in: HeaderMap,
) -> ApiResult<Response> {
    let run = find_run(&app, &thread, &run)?;
    let place = format!("/threads/{}/runs/{}", run.thread_id, run.run_id);
    if let Some(live) = app.runs.live(&run.thread_id, &run.run_id) {
        return join_live(&app, live, &place, &headers_in, &query);
    }
    let modes = modes_in(&query)?;
    let body = match last_event(&headers_in) {
        Some(after) => joined(Arc::clone(&app.app), run.run_id, after, modes),
        None => HttpBody::empty(),
    };
    Ok(event_stream(permit(&app)?, headers(&place, "stream"), body))
}

pub(super) async fn join_stream_stateless(
    app: Access,
    Path(run): Path<String>,
    Query(query): Query<Join>,
    headers_in: HeaderMap,
) -> ApiResult<Response> {
    let run = uuid("run", &run)?;
    let live = app.runs.find(&run);
    let live = live.filter(|live| app.sees(&live.owner));
    let live = live.ok_or_else(|| ApiError::not_found(format!("Run with ID {run} not found")))?;
    join_live(&app, live, &format!("/runs/{run}"), &headers_in, &query)
}

#[derive(Deserialize)]
pub(super) struct Cancel {
    wait: Option<String>,
    action: Option<String>,
}

fn action(given: Option<&str>) -> ApiResult<CancelAction> {
    match given {
        None | Some("interrupt") => Ok(CancelAction::Interrupt),
        Some("rollback") => Ok(CancelAction::Rollback),
        Some(other) => Err(ApiError::invalid(format!(
            "action is one of interrupt, rollback, found '{other}'"
        ))),
    }
}

pub(super) async fn cancel(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
    Query(query): Query<Cancel>,
) -> ApiResult<Response> {
    let run = find_run(&app, &thread, &run)?;
    let action = action(query.action.as_deref())?;
    let waits = matches!(query.wait.as_deref(), Some("1" | "true"));
    let place = format!("/threads/{}/runs/{}", run.thread_id, run.run_id);
    let live = app.runs.live(&run.thread_id, &run.run_id);
    let Some(live) = live else {
        return Err(ApiError::conflict("Run has ended already."));
    };
    crate::runs::cancel(&app, &live, action)?;
    if waits {
        live.result().await;
        return Ok((headers(&place, "join"), Json(json!({}))).into_response());
    }
    Ok((
        StatusCode::ACCEPTED,
        headers(&place, "join"),
        Json(json!({})),
    )
        .into_response())
}

#[derive(Deserialize)]
pub(super) struct CancelMany {
    thread_id: Option<String>,
    run_ids: Option<Vec<String>>,
    status: Option<String>,
}

pub(super) async fn cancel_many(
    app: Access,
    Query(query): Query<Cancel>,
    Body(given): Body<CancelMany>,
) -> ApiResult<StatusCode> {
    let action = action(query.action.as_deref())?;
    let found: Vec<Arc<Live>> = match (given.thread_id, given.run_ids) {
        (Some(thread), Some(ids)) => {
            let thread = find(&app, &thread)?.thread_id;
            let runs = app.runs.of_thread(&thread).into_iter();
            runs.filter(|live| ids.contains(&live.run_id)).collect()
        }
        _ => {
            return Err(ApiError::invalid(
                "thread_id and run_ids say which runs are cancelled",
            ));
        }
    };
    if given.status.is_some() {
        return Err(ApiError::invalid(
            "runs are cancelled by id here, not by status",
        ));
    }
    if found.is_empty() {
        return Err(ApiError::not_found("no such run is under way"));
    }
    for live in found.iter().rev() {
        crate::runs::cancel(&app, live, action)?;
    }
    Ok(StatusCode::NO_CONTENT)
}
