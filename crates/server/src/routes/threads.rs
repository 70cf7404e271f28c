//! Threads.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::query::{Body, page, sort, thread_id};
use super::state;
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::rows::{Thread, contains, merge};
use crate::runs::{CancelAction, cancel};

type Shared = State<Arc<App>>;

/// Returns the row of a thread.
pub(super) fn find(app: &App, id: &str) -> ApiResult<Thread> {
    let id = thread_id(id)?;
    let row = app.rows.thread(&id)?;
    row.ok_or_else(|| ApiError::not_found(format!("Thread with ID {id} not found")))
}

#[derive(Deserialize)]
pub(super) struct Create {
    thread_id: Option<String>,
    metadata: Option<Value>,
    graph_id: Option<String>,
    if_exists: Option<String>,
    supersteps: Option<Vec<Superstep>>,
    ttl: Option<Value>,
}

#[derive(Deserialize)]
struct Superstep {
    updates: Vec<state::Update>,
}

pub(super) async fn create(
    State(app): Shared,
    Body(given): Body<Create>,
) -> ApiResult<Json<Value>> {
    if given.ttl.is_some_and(|ttl| !ttl.is_null()) {
        return Err(ApiError::invalid(
            "a time to live of threads is not supported here",
        ));
    }
    let id = match &given.thread_id {
        Some(id) => thread_id(id)?,
        None => Uuid::now_v7().to_string(),
    };
    let mut metadata = given.metadata.unwrap_or_else(|| json!({}));
    if let Some(graph) = given.graph_id {
        let assistant = app.assistant(&graph)?;
        let own = json!({
            "graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id,
        });
        merge(&mut metadata, &own);
    }
    let thread = Thread::new(id, metadata);
    if !app.rows.create_thread(&thread)? {
        if given.if_exists.as_deref() == Some("do_nothing") {
            return Ok(Json(find(&app, &thread.thread_id)?.json()));
        }
        let id = thread.thread_id;
        return Err(ApiError::conflict(format!(
            "Thread with ID {id} already exists"
        )));
    }
    let updates = given
        .supersteps
        .into_iter()
        .flatten()
        .flat_map(|step| step.updates);
    for update in updates {
        state::apply(&app, &thread, update).await?;
    }
    Ok(Json(find(&app, &thread.thread_id)?.json()))
}

pub(super) async fn read(State(app): Shared, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    Ok(Json(find(&app, &id)?.json()))
}

#[derive(Deserialize)]
pub(super) struct Change {
    metadata: Option<Value>,
}

pub(super) async fn change(
    State(app): Shared,
    Path(id): Path<String>,
    Body(given): Body<Change>,
) -> ApiResult<Json<Value>> {
    let id = find(&app, &id)?.thread_id;
    let changed = app.rows.change_thread(&id, |thread| {
        merge(
            &mut thread.metadata,
            given.metadata.as_ref().unwrap_or(&Value::Null),
        );
    })?;
    let changed = changed.map(|thread| thread.json());
    changed
        .map(Json)
        .ok_or_else(|| ApiError::not_found(format!("Thread with ID {id} not found")))
}

pub(super) async fn remove(State(app): Shared, Path(id): Path<String>) -> ApiResult<StatusCode> {
    let thread = find(&app, &id)?;
    let id = &thread.thread_id;
    let mut running = app.runs.of_thread(id);
    running.reverse();
    for live in &running {
        cancel(&app, live, CancelAction::Interrupt)?;
    }
    for live in &running {
        live.result().await;
    }
    if let Some(graph) = app.graph_of_thread(&thread.metadata)? {
        graph.delete(id).await?;
    }
    app.rows.delete_thread(id)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
pub(super) struct Search {
    ids: Option<Vec<String>>,
    metadata: Option<Value>,
    values: Option<Value>,
    status: Option<String>,
    #[serde(default = "ten")]
    limit: usize,
    #[serde(default)]
    offset: usize,
    sort_by: Option<String>,
    sort_order: Option<String>,
    select: Option<Vec<String>>,
}

fn ten() -> usize {
    10
}

fn matching(app: &App, search: &Search) -> ApiResult<Vec<Value>> {
    let wants = |thread: &Thread| {
        search
            .ids
            .as_ref()
            .is_none_or(|ids| ids.contains(&thread.thread_id))
            && search
                .metadata
                .as_ref()
                .is_none_or(|part| contains(&thread.metadata, part))
            && search
                .values
                .as_ref()
                .is_none_or(|part| contains(&thread.values, part))
    };
    let found = app.rows.threads(search.status.as_deref(), wants)?;
    Ok(found.iter().map(Thread::json).collect())
}

pub(super) async fn search(State(app): Shared, Body(search): Body<Search>) -> ApiResult<Response> {
    let mut found = matching(&app, &search)?;
    let by = search.sort_by.as_deref().unwrap_or("created_at");
    sort(&mut found, by, search.sort_order.as_deref() == Some("asc"));
    Ok(page(
        found,
        search.limit,
        search.offset,
        search.select.as_deref(),
    ))
}

pub(super) async fn count(
    State(app): Shared,
    Body(search): Body<Search>,
) -> ApiResult<Json<usize>> {
    Ok(Json(matching(&app, &search)?.len()))
}

pub(super) async fn copy(State(app): Shared, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id)?;
    let mut copy = Thread::new(Uuid::now_v7().to_string(), thread.metadata.clone());
    if let Some(graph) = app.graph_of_thread(&thread.metadata)?
        && graph.head(&thread.thread_id).await?.is_some()
    {
        graph.copy(&thread.thread_id, &copy.thread_id).await?;
    }
    copy.values = thread.values;
    copy.interrupts = thread.interrupts;
    copy.status = match thread.status.as_str() {
        "busy" => "idle".to_owned(),
        status => status.to_owned(),
    };
    app.rows.create_thread(&copy)?;
    Ok(Json(copy.json()))
}
