//! Threads.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use langgraph_queue::{Cancel, RunQueue};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::query::{Body, if_exists, thread_id};
use super::search::Search;
use super::state;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::rows::{Thread, contains, merge};
use crate::runs::{cancel, one_of};

/// Creates a thread of the user, unless it exists or there are too many. Returns true if it is new.
pub(super) async fn make(app: &Access, thread: &Thread) -> ApiResult<bool> {
    if let Some(limit) = app.limits.threads
        && app.rows.threads_of(&thread.owner).await? >= limit
        && app.rows.thread(&thread.thread_id).await?.is_none()
    {
        return Err(ApiError::too_many(format!(
            "there are {limit} threads already, which is the limit"
        )));
    }
    Ok(app.rows.create_thread(thread).await?)
}

/// Returns the row of a thread of the user.
pub(crate) async fn find(app: &Access, id: &str) -> ApiResult<Thread> {
    let id = thread_id(id)?;
    let row = app.rows.thread(&id).await?;
    let row = row.filter(|thread| app.sees(&thread.owner));
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

pub(super) async fn create(app: Access, Body(given): Body<Create>) -> ApiResult<Json<Value>> {
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
        let assistant = app.assistant(&graph).await?;
        let own = json!({
            "graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id,
        });
        merge(&mut metadata, &own);
    }
    let thread = Thread::new(id, app.owner(), metadata);
    if !make(&app, &thread).await? {
        let id = &thread.thread_id;
        let existing = find(&app, id).await.map(|existing| existing.json());
        return if_exists(given.if_exists.as_deref(), "Thread", id, existing);
    }
    let updates = given
        .supersteps
        .into_iter()
        .flatten()
        .flat_map(|step| step.updates);
    for update in updates {
        state::apply(&app, &thread, update).await?;
    }
    Ok(Json(find(&app, &thread.thread_id).await?.json()))
}

pub(super) async fn read(app: Access, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    Ok(Json(find(&app, &id).await?.json()))
}

#[derive(Deserialize)]
pub(super) struct Change {
    metadata: Option<Value>,
}

pub(super) async fn change(
    app: Access,
    Path(id): Path<String>,
    Body(given): Body<Change>,
) -> ApiResult<Json<Value>> {
    let id = find(&app, &id).await?.thread_id;
    let changed = app
        .rows
        .change_thread(&id, |thread| {
            merge(
                &mut thread.metadata,
                given.metadata.as_ref().unwrap_or(&Value::Null),
            );
        })
        .await?;
    let changed = changed.map(|thread| thread.json());
    changed
        .map(Json)
        .ok_or_else(|| ApiError::not_found(format!("Thread with ID {id} not found")))
}

pub(super) async fn remove(app: Access, Path(id): Path<String>) -> ApiResult<StatusCode> {
    let thread = find(&app, &id).await?;
    let id = &thread.thread_id;
    let open = app.rows.open(id).await?;
    for run in open.iter().rev() {
        let feed = app.runs.feeds.of(run, true);
        cancel(&app, run, Cancel::Interrupt).await?;
        if let Some(row) = app.rows.run(id, run).await?
            && row.is_open()
        {
            feed.result().await;
        }
    }
    if let Some(graph) = app.graph_of_thread(&thread.metadata)? {
        graph.delete(id).await?;
    }
    app.rows.delete_thread(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What a search for threads has beside the metadata.
#[derive(Deserialize)]
pub(super) struct Wanted {
    ids: Option<Vec<String>>,
    values: Option<Value>,
    status: Option<String>,
}

async fn matching(app: &Access, search: &Search<Wanted>) -> ApiResult<Vec<Value>> {
    let Wanted {
        ids,
        values,
        status,
    } = &search.of;
    let status = status.as_deref();
    one_of("status", status, &["idle", "busy", "interrupted", "error"])?;
    let wants = |thread: &Thread| {
        ids.as_ref()
            .is_none_or(|ids| ids.contains(&thread.thread_id))
            && search.fits(&thread.metadata)
            && values
                .as_ref()
                .is_none_or(|part| contains(&thread.values, part))
    };
    let found = app.rows.threads(app.filter(), status, wants).await?;
    Ok(found.iter().map(Thread::json).collect())
}

pub(super) async fn search(app: Access, Body(search): Body<Search<Wanted>>) -> ApiResult<Response> {
    Ok(search.page(matching(&app, &search).await?))
}

pub(super) async fn count(
    app: Access,
    Body(search): Body<Search<Wanted>>,
) -> ApiResult<Json<usize>> {
    Ok(Json(matching(&app, &search).await?.len()))
}

pub(super) async fn copy(app: Access, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    let mut copy = Thread::new(
        Uuid::now_v7().to_string(),
        app.owner(),
        thread.metadata.clone(),
    );
    if !make(&app, &copy).await? {
        return Err(ApiError::conflict("the copy exists already"));
    }
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
    app.rows
        .change_thread(&copy.thread_id, |row| row.clone_from(&copy))
        .await?;
    Ok(Json(copy.json()))
}
