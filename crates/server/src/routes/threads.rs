//! Threads.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::address::{Path, Query};
use super::place;
use super::query::{Body, IfExists, Pairs, if_exists, one_of};
use super::search::{Search, counted, found, object};
use super::state;
use crate::error::{ApiError, ApiResult};
use crate::graph::ErasedGraph;
use crate::guard::Access;
use crate::ids::thread_id;
use crate::rows::{Listing, Pruning, Thread, ThreadOrder, ThreadsOf, Ttl, contains, merge};
use crate::runs::{prune_thread, remove_thread, write_changed};
use crate::threads::{find, make, sees};
use crate::wire::usage::Usages;

#[derive(Deserialize)]
pub(super) struct CreateThread {
    thread_id: Option<String>,
    metadata: Option<Map<String, Value>>,
    graph_id: Option<String>,
    if_exists: Option<IfExists>,
    supersteps: Option<Vec<Superstep>>,
    #[serde(default, deserialize_with = "ttl")]
    ttl: Option<Ttl>,
}

/// Reads a time to live: minutes, or an object.
fn ttl<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Ttl>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TtlForm {
        Minutes(f64),
        Ttl(Ttl),
    }
    let ttl = match Option::<TtlForm>::deserialize(given)? {
        None => return Ok(None),
        Some(TtlForm::Minutes(ttl)) => Ttl {
            ttl,
            strategy: Pruning::Delete,
        },
        Some(TtlForm::Ttl(ttl)) => ttl,
    };
    // A century is for ever.
    if ttl.time().is_none() || ttl.ttl > 60.0 * 24.0 * 36_525.0 {
        let text = "ttl is a number of minutes, at most 100 years";
        return Err(serde::de::Error::custom(text));
    }
    Ok(Some(ttl))
}

/// Refuses the name of a graph that the server does not have: it could not read the thread.
fn known_graph(app: &Access, metadata: &Value) -> ApiResult<()> {
    match metadata.get("graph_id") {
        None => Ok(()),
        Some(Value::String(name)) if app.graphs.contains_key(name) => Ok(()),
        Some(name) => Err(ApiError::invalid(format!(
            "metadata.graph_id names no graph of the server: {name}"
        ))),
    }
}

/// Refuses another graph for a thread that has one: its state could not be read any more.
fn same_graph(app: &Access, known: &Value, given: &Value) -> ApiResult<()> {
    known_graph(app, given)?;
    match (known.get("graph_id"), given.get("graph_id")) {
        (Some(known), Some(given)) if known != given => Err(ApiError::invalid(format!(
            "metadata.graph_id cannot be changed: the thread belongs to the graph {known}"
        ))),
        _ => Ok(()),
    }
}

#[derive(Deserialize)]
struct Superstep {
    updates: Vec<state::Update>,
}

pub(super) async fn create(app: Access, Body(given): Body<CreateThread>) -> ApiResult<Json<Value>> {
    let id = match &given.thread_id {
        Some(id) => thread_id(id)?,
        None => langgraph_core::new_id().to_string(),
    };
    let mut metadata = Value::Object(given.metadata.unwrap_or_default());
    known_graph(&app, &metadata)?;
    if let Some(graph) = given.graph_id {
        let assistant = app.assistant(&graph).await?;
        let own = json!({
            "graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id,
        });
        merge(&mut metadata, &own);
    }
    merge(&mut metadata, &app.filters.threads.as_metadata());
    let mut thread = Thread::new(id, app.owner(), metadata);
    thread.ttl = given.ttl;
    if !make(&app, thread.clone()).await? {
        let id = &thread.thread_id;
        let existing = find(&app.reading(), id)
            .await
            .map(|existing| existing.json());
        return if_exists(given.if_exists, "Thread", id, existing);
    }
    let supersteps = given.supersteps.unwrap_or_default();
    whole(&app, &thread, apply_all(&app, &thread, supersteps)).await?;
    Ok(Json(find(&app, &thread.thread_id).await?.json()))
}

async fn apply_all(app: &Access, thread: &Thread, supersteps: Vec<Superstep>) -> ApiResult<()> {
    for step in supersteps {
        state::apply(app, thread, step.updates).await?;
    }
    Ok(())
}

/// Waits until a new thread is filled, and removes it if that fails: no part of it stays.
async fn whole(
    app: &Access,
    thread: &Thread,
    filled: impl Future<Output = ApiResult<()>>,
) -> ApiResult<()> {
    let Err(error) = filled.await else {
        return Ok(());
    };
    if let Err(error) = remove_thread(app, thread).await {
        let thread = &thread.thread_id;
        tracing::error!(?error, thread, "failed to remove an incomplete thread");
    }
    Err(error)
}

pub(super) async fn read(
    app: Access,
    Path(id): Path<String>,
    Query(query): Query<Pairs>,
) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    let mut json = thread.json();
    for field in query.list("include").into_iter().flatten() {
        one_of("include", Some(&field), &["ttl"])?;
        json[field] = thread.ttl_json();
    }
    Ok(Json(json))
}

#[derive(Deserialize)]
pub(super) struct ChangeThread {
    metadata: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "ttl")]
    ttl: Option<Ttl>,
}

pub(super) async fn change(
    app: Access,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(given): Body<ChangeThread>,
) -> ApiResult<Response> {
    let thread = find(&app, &id).await?;
    let id = thread.thread_id;
    let metadata = Value::Object(given.metadata.unwrap_or_default());
    same_graph(&app, &thread.metadata, &metadata)?;
    if !app.filters.threads.keeps(&metadata) {
        return Err(ApiError::forbidden("Forbidden"));
    }
    let changed = app
        .rows
        .change_thread(&id, |thread| {
            merge(&mut thread.metadata, &metadata);
            thread.ttl = given.ttl.or(thread.ttl);
        })
        .await?;
    let changed = changed.ok_or_else(|| ApiError::no_thread(&id))?;
    if headers
        .get("prefer")
        .is_some_and(|prefer| prefer == "return=minimal")
    {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Json(changed.json()).into_response())
}

#[derive(Deserialize)]
pub(super) struct Prune {
    thread_ids: Vec<String>,
    #[serde(default)]
    strategy: Pruning,
}

/// Prunes those of the threads that the user has. One whose newest checkpoint alone would stay is left alone while a run
/// waits or runs there.
pub(super) async fn prune(app: Access, Body(given): Body<Prune>) -> ApiResult<Json<Value>> {
    let ids: Result<BTreeSet<_>, _> = given.thread_ids.iter().map(|id| thread_id(id)).collect();
    let mut pruned = 0;
    for id in ids? {
        match app.rows.thread(&id).await? {
            Some(thread) if sees(&app, &thread) => {
                let is_pruned = prune_thread(&app, &thread, given.strategy).await?;
                pruned += u32::from(is_pruned);
            }
            _ => {}
        }
    }
    Ok(Json(json!({"pruned_count": pruned})))
}

pub(super) async fn remove(app: Access, Path(id): Path<String>) -> ApiResult<StatusCode> {
    remove_thread(&app, &find(&app, &id).await?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What a search for threads has beside the metadata.
#[derive(Deserialize)]
pub(super) struct ThreadCriteria {
    ids: Option<Vec<String>>,
    #[serde(default, deserialize_with = "object")]
    values: Option<Value>,
    status: Option<String>,
    /// Names of what is extracted, and where it is: `values.messages[-1].content`.
    extract: Option<BTreeMap<String, String>>,
}

impl ThreadCriteria {
    /// Returns the ids in their usual form.
    fn ids(&self) -> ApiResult<Option<Vec<String>>> {
        let ids = self.ids.as_ref();
        ids.map(|ids| ids.iter().map(|id| thread_id(id)).collect())
            .transpose()
    }
}

impl Search<ThreadCriteria> {
    /// Returns which threads are found, if their documents decide.
    fn wanted(&self, app: &Access) -> Option<impl Fn(&Thread) -> bool> {
        let ThreadCriteria { ids, values, .. } = &self.of;
        let values = values.as_ref();
        let filtered = !app.filters.threads.is_all();
        let decide = ids.is_some() || values.is_some() || self.has_metadata() || filtered;
        decide.then_some(move |thread: &Thread| {
            self.fits(&thread.metadata)
                && app.filters.threads.fits(&thread.metadata)
                && values.is_none_or(|part| contains(&thread.values, part))
        })
    }

    fn listed<'a>(&'a self, app: &'a Access) -> ApiResult<Listing<'a, Thread>> {
        let status = self.of.status.as_deref();
        one_of("status", status, &["idle", "busy", "interrupted", "error"])?;
        let orders = [
            ("created_at", ThreadOrder::Created),
            ("updated_at", ThreadOrder::Updated),
            ("state_updated_at", ThreadOrder::StateUpdated),
            ("thread_id", ThreadOrder::Id),
            ("status", ThreadOrder::Status),
        ];
        self.listing(
            app,
            ThreadsOf { status },
            ThreadOrder::Created,
            &orders,
            &FIELDS,
        )
    }
}

/// What a search may select of a thread. No thread has a `context`, but the clients' types name it.
const FIELDS: [&str; 11] = [
    "thread_id",
    "created_at",
    "updated_at",
    "state_updated_at",
    "metadata",
    "config",
    "context",
    "status",
    "values",
    "error",
    "interrupts",
];

/// Returns what is extracted of each thread.
fn extracts(wanted: &ThreadCriteria) -> ApiResult<Vec<(&String, Vec<place::Step>)>> {
    let paths = wanted.extract.iter().flatten();
    let paths = paths.map(|(name, path)| Ok((name, place::parse(path)?)));
    let paths: Vec<_> = paths.collect::<ApiResult<_>>()?;
    if paths.len() > 10 {
        return Err(ApiError::invalid("extract has at most 10 paths"));
    }
    Ok(paths)
}

pub(super) async fn search(
    app: Access,
    Body(search): Body<Search<ThreadCriteria>>,
) -> ApiResult<Response> {
    let paths = extracts(&search.of)?;
    let (listed, ids) = (search.listed(&app)?, search.of.ids()?);
    let found = found(&app, listed, ids.as_deref(), search.wanted(&app)).await?;
    let extracted = |thread: &Value| {
        let found = paths
            .iter()
            .map(|(name, path)| ((*name).clone(), place::find(thread, path)));
        let found: Map<String, Value> = found.collect();
        search.of.extract.is_some().then_some(Value::Object(found))
    };
    Ok(search.page_with(&found, Thread::json, extracted))
}

pub(super) async fn count(
    app: Access,
    Body(search): Body<Search<ThreadCriteria>>,
) -> ApiResult<Json<usize>> {
    let (listed, ids) = (search.listed(&app)?, search.of.ids()?);
    counted(&app, listed, ids.as_deref(), search.wanted(&app)).await
}

pub(super) async fn copy(app: Access, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    let thread = find(&app.reading(), &id).await?;
    let graph = app.graph_of_thread(&thread.metadata)?;
    let mut copy = Thread::new(
        langgraph_core::new_id().to_string(),
        app.owner(),
        thread.metadata.clone(),
    );
    merge(&mut copy.metadata, &app.filters.threads.as_metadata());
    // It lives as long as the thread would, and goes on as the run that has paused there.
    copy.ttl = thread.ttl;
    if thread.wakes.is_some() || thread.status == "busy" {
        let paused = app.rows.pausing_run(&thread).await?;
        copy.paused = paused.map(|paused| Box::new(paused.copied(&copy.thread_id, app.user())));
    }
    if !make(&app, copy.clone()).await? {
        return Err(ApiError::conflict("the copy exists already"));
    }
    let filled = fill(&app, &thread, &copy.thread_id, graph.as_deref());
    whole(&app, &copy, filled).await?;
    Ok(Json(find(&app, &copy.thread_id).await?.json()))
}

/// Copies the states of a thread, and what its row says of them.
async fn fill(
    app: &Access,
    thread: &Thread,
    copy: &str,
    graph: Option<&dyn ErasedGraph>,
) -> ApiResult<()> {
    let id = &thread.thread_id;
    let copied = match graph {
        Some(graph) if graph.copy(id, copy).await? => Some(graph),
        _ => None,
    };
    let now = app.rows.thread(id).await?;
    let is_as_before = now.is_some_and(|now| now.updated_at == thread.updated_at);
    let is_at_rest = thread.status != "busy" && is_as_before;
    if let Some(graph) = copied.filter(|_| !is_at_rest) {
        // The row says what was before a run. The copy has what the run has stored so far.
        let mut usages = Usages::default();
        usages.read(&thread.values);
        write_changed(app, graph, copy, usages).await?;
        return Ok(());
    }
    let changed = app.rows.change_thread(copy, |row| {
        row.values = thread.values.clone();
        row.interrupts = thread.interrupts.clone();
        row.wakes = thread.wakes;
        row.left_by.clone_from(&thread.left_by);
        row.error = thread.error.clone();
        if thread.status != "busy" {
            row.status.clone_from(&thread.status);
        }
    });
    changed.await?;
    Ok(())
}
