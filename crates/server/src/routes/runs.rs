//! Runs: in the background, waited for, streamed.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use langgraph_http::Sse;
use serde::Deserialize;
use serde_json::Value;

use super::address::{Path, Query};
use super::encoded::encoded;
pub(super) use super::open_stream::{event_stream, held, permit};
use super::query::{Pairs, one_of, page_of};
use super::run_body::{BatchBody, RunBody};
use super::search::ten;
use super::waiting::result_of;
use crate::app::App;
use crate::encode::Encoder;
use crate::encode::v1::{Ids, Seen, V1};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::uuid;
use crate::rows::{Run, contains};
use crate::runs::{Accepted, Disconnect, Modes, RunRequest, accept, accept_all, attach};
use crate::spec::Mode;
use crate::stream::{Feed, FeedReader};
use crate::threads::{self, find};
use crate::wire::truth::is_true;

impl Accepted {
    /// Returns the headers that say where the run is.
    fn headers(&self, suffix: &str) -> HeaderMap {
        let run = &self.row.run_id;
        if self.stateless {
            return headers(&format!("/runs/{run}"), suffix);
        }
        self.headers_of_thread(suffix)
    }

    /// As [`headers`](Self::headers), with the thread in any case.
    fn headers_of_thread(&self, suffix: &str) -> HeaderMap {
        let Run {
            run_id, thread_id, ..
        } = &self.row;
        headers(&format!("/threads/{thread_id}/runs/{run_id}"), suffix)
    }

    fn guard(&self, app: &Arc<App>) -> Disconnect {
        Disconnect::new(app, &self.row.run_id, self.cancel_on_disconnect)
    }
}

pub(super) fn headers(place: &str, suffix: &str) -> HeaderMap {
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

/// How often a silent stream sends a comment.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Returns the frames of a run.
fn frames_of(events: FeedReader, encoder: impl Encoder + 'static, guard: Disconnect) -> Sse {
    Sse::breakable(encoded(events, encoder, guard)).keep_alive(HEARTBEAT)
}

async fn created(app: &Access, thread: Option<&str>, request: RunRequest) -> ApiResult<Response> {
    let run = accept(app, thread, request).await?;
    Ok((run.headers(""), Json(run.row.json())).into_response())
}

async fn waited(app: &Access, thread: Option<&str>, request: RunRequest) -> ApiResult<Response> {
    let permit = permit(app)?;
    let run = accept(app, thread, request).await?;
    let (guard, headers) = (run.guard(app), run.headers_of_thread("join"));
    // Its events are not read: the run must not wait for them.
    drop(run.events);
    Ok(held(permit, result_of(run.feed, guard, headers).await))
}

async fn streaming(app: &Access, thread: Option<&str>, request: RunRequest) -> ApiResult<Response> {
    let permit = permit(app)?;
    let run = accept(app, thread, request).await?;
    let (headers, guard) = (run.headers("stream"), run.guard(app));
    let ids = ids(&run.feed, Seen::NOTHING);
    let encoder = V1::new(run.row.kwargs.stream_mode.clone(), ids);
    Ok(event_stream(
        permit,
        headers,
        frames_of(run.events, encoder, guard),
    ))
}

pub(super) async fn create(
    app: Access,
    Path(thread): Path<String>,
    RunBody(request): RunBody,
) -> ApiResult<Response> {
    created(&app, Some(&thread), request).await
}

pub(super) async fn create_stateless(
    app: Access,
    RunBody(request): RunBody,
) -> ApiResult<Response> {
    created(&app, None, request).await
}

pub(super) async fn batch(
    app: Access,
    BatchBody(requests): BatchBody,
) -> ApiResult<Json<Vec<Value>>> {
    let runs = accept_all(&app, requests).await?;
    Ok(Json(runs.iter().map(Run::json).collect()))
}

pub(super) async fn wait(
    app: Access,
    Path(thread): Path<String>,
    RunBody(request): RunBody,
) -> ApiResult<Response> {
    waited(&app, Some(&thread), request).await
}

pub(super) async fn wait_stateless(app: Access, RunBody(request): RunBody) -> ApiResult<Response> {
    waited(&app, None, request).await
}

pub(super) async fn stream(
    app: Access,
    Path(thread): Path<String>,
    RunBody(request): RunBody,
) -> ApiResult<Response> {
    streaming(&app, Some(&thread), request).await
}

pub(super) async fn stream_stateless(
    app: Access,
    RunBody(request): RunBody,
) -> ApiResult<Response> {
    streaming(&app, None, request).await
}

/// What the row of a run says of it.
const STATUSES: [&str; 6] = [
    "pending",
    "running",
    "success",
    "error",
    "timeout",
    "interrupted",
];

pub(super) async fn list(
    app: Access,
    Path(thread): Path<String>,
    Query(query): Query<Pairs>,
) -> ApiResult<Response> {
    let thread = find(&app, &thread).await?.thread_id;
    let metadata: Value = match query.get("metadata") {
        Some(text) => serde_json::from_str(text)?,
        None => Value::Null,
    };
    let (limit, offset) = (query.number("limit", ten())?, query.number("offset", 0)?);
    let wants = |run: &Run| contains(&run.metadata, &metadata);
    let wants: Option<&(dyn Fn(&Run) -> bool + Sync)> = match &metadata {
        Value::Object(entries) if !entries.is_empty() => Some(&wants),
        _ => None,
    };
    let status = query.get("status");
    one_of("status", status, &STATUSES)?;
    let listed = app
        .rows
        .listed_runs(&thread, status, (offset, limit), wants);
    let found = listed.await?;
    let runs = found.page.iter().map(Run::json).collect();
    let select = query.list("select");
    Ok(page_of(runs, found.total, offset, select.as_deref()))
}

pub(super) async fn find_run(app: &Access, thread: &str, run: &str) -> ApiResult<Run> {
    let thread = find(app, thread).await?.thread_id;
    let run = uuid("run", run)?;
    let found = app.rows.run(&thread, &run).await?;
    found.ok_or_else(|| ApiError::not_found(format!("Run with ID {run} not found")))
}

pub(super) async fn read(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
) -> ApiResult<Json<Value>> {
    Ok(Json(find_run(&app, &thread, &run).await?.json()))
}

pub(super) async fn remove(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    let run = find_run(&app, &thread, &run).await?;
    if run.is_open() {
        return Err(ApiError::conflict(
            "Run is under way; cancel it before it is deleted.",
        ));
    }
    app.rows.delete_run(&run.run_id).await?;
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
                    join.cancel_on_disconnect = is_true(&value);
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
    let run = find_run(&app, &thread, &run).await?;
    let place = format!("/threads/{}/runs/{}", run.thread_id, run.run_id);
    let permit = permit(&app)?;
    let feed = attach(&app, &run).await?;
    let cancels = query.cancel_on_disconnect && run.is_open();
    let guard = Disconnect::new(&app, &run.run_id, cancels);
    let response = result_of(feed, guard, headers(&place, "join")).await;
    Ok(held(permit, response))
}

/// Reads `stream_mode` of a query: modes, with commas or repeated, or a JSON list. `None` without
/// any.
fn modes_in(query: &Join) -> ApiResult<Option<Vec<Mode>>> {
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
        return Ok(None);
    }
    let modes: Modes = serde_json::from_value(Value::Array(listed))
        .map_err(|error| ApiError::invalid(format!("stream_mode: {error}")))?;
    Ok(Some(modes.0))
}

/// Returns the ids of a run's frames: none, if they cannot be replayed.
fn ids(feed: &Feed, after: Seen) -> Ids {
    if feed.is_stored {
        Ids::OfRun { after }
    } else {
        Ids::None
    }
}

/// Streams a run from the event after `Last-Event-ID`; without one, from now on.
async fn join_live(
    app: &Access,
    run: &Run,
    place: &str,
    headers_in: &HeaderMap,
    query: &Join,
) -> ApiResult<Response> {
    let mut modes = run.kwargs.stream_mode.clone();
    if let Some(wanted) = modes_in(query)? {
        modes.retain(|mode| wanted.contains(mode));
    }
    let last = last_event(headers_in)?;
    let permit = permit(app)?;
    let feed = attach(app, run).await?;
    let after = last.filter(|_| feed.is_stored);
    let after = after.unwrap_or_else(|| Seen::before(feed.next_number()));
    let encoder = V1::new(modes, ids(&feed, after));
    let first = if feed.is_stored {
        encoder.first_event(after.next_event())
    } else {
        after.next_event()
    };
    let cancels = query.cancel_on_disconnect && run.is_open();
    let guard = Disconnect::new(app, &run.run_id, cancels);
    let events = FeedReader::new(&app.rows, feed, first);
    let body = frames_of(events, encoder, guard);
    Ok(event_stream(permit, headers(place, "stream"), body))
}

/// Returns the last event that a client has seen, if it says so. Without a word, a stream with a wrong id would begin
/// at another place than the client believes.
pub(super) fn last_event(headers: &HeaderMap) -> ApiResult<Option<Seen>> {
    let Some(given) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let given = String::from_utf8_lossy(given.as_bytes());
    // A client that has seen no id may say so.
    if given.trim().is_empty() {
        return Ok(None);
    }
    let seen = Seen::parse(&given).ok_or_else(|| {
        ApiError::invalid(format!(
            "Invalid last-event-id: '{given}' is the id of no event; '-1' asks for all events"
        ))
    });
    seen.map(Some)
}

pub(super) async fn join_stream(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
    Query(query): Query<Join>,
    headers_in: HeaderMap,
) -> ApiResult<Response> {
    let run = find_run(&app, &thread, &run).await?;
    let place = format!("/threads/{}/runs/{}", run.thread_id, run.run_id);
    join_live(&app, &run, &place, &headers_in, &query).await
}

pub(super) async fn join_stream_stateless(
    app: Access,
    Path(run): Path<String>,
    Query(query): Query<Join>,
    headers_in: HeaderMap,
) -> ApiResult<Response> {
    let run = uuid("run", &run)?;
    let found = app.rows.run_of_id(&run).await?;
    let missing = || ApiError::not_found(format!("Run with ID {run} not found"));
    let row = found.ok_or_else(missing)?;
    threads::seen(&app, &row.thread_id)
        .await?
        .ok_or_else(missing)?;
    join_live(&app, &row, &format!("/runs/{run}"), &headers_in, &query).await
}
