//! The state and the history of threads.

use std::sync::Arc;

use axum::Json;
use langgraph::checkpoint::CheckpointId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::address::{Path, Query};
use super::query::{Body, Pairs, selected};
use super::search::{limit, object, ten};
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::graph::{Change, NodeUpdate, leave_out_inner, state_inside};
use crate::guard::Access;
use crate::rows::{Thread, contains};
use crate::runs::change_state;
use crate::spec::{CheckpointRef, RunCommand, checkpoint_id};
use crate::threads::find;
use crate::wire::usage::Usages;

/// What a client wants of a state.
struct StateOptions {
    subgraphs: bool,
    select: Option<Vec<String>>,
}

impl From<&Pairs> for StateOptions {
    fn from(query: &Pairs) -> Self {
        Self {
            subgraphs: query.is_true("subgraphs"),
            select: query.list("select"),
        }
    }
}

/// Keeps the named fields of a state. `values.name` keeps one of its values.
fn picked(state: Value, select: Option<&[String]>) -> Value {
    let Some(select) = select else { return state };
    let whole = |name: &str| select.iter().any(|wanted| wanted == name);
    let values: Vec<String> = select
        .iter()
        .filter_map(|wanted| wanted.strip_prefix("values."))
        .map(str::to_owned)
        .collect();
    let Value::Object(fields) = state else {
        return state;
    };
    let kept = fields.into_iter().filter_map(|(name, value)| {
        if whole(&name) {
            Some((name, value))
        } else if name == "values" && !values.is_empty() {
            Some((name, selected(value, Some(&values))))
        } else {
            None
        }
    });
    Value::Object(kept.collect())
}

async fn state_of(
    app: &App,
    thread: &Thread,
    at: Option<CheckpointId>,
    wanted: StateOptions,
) -> ApiResult<Json<Value>> {
    let StateOptions { subgraphs, select } = wanted;
    let graph = app.graph_of_thread(&thread.metadata)?;
    let found = match graph {
        Some(graph) => graph.state(&thread.thread_id, at, subgraphs).await?,
        None => None,
    };
    let id = &thread.thread_id;
    if let (None, Some(at)) = (&found, at) {
        return Err(ApiError::not_found(format!(
            "Thread {id} has no checkpoint {at}"
        )));
    }
    let mut state = found.unwrap_or_else(|| {
        json!({
            "values": {}, "next": [], "tasks": [], "metadata": {}, "created_at": null,
            "checkpoint": {"thread_id": id, "checkpoint_ns": "", "checkpoint_id": null},
            "parent_checkpoint": null, "interrupts": [], "checkpoint_id": null,
            "parent_checkpoint_id": null,
        })
    });
    usages(thread).write(&mut state);
    Ok(Json(picked(state, select.as_deref())))
}

/// Returns what the messages of a thread have cost.
fn usages(thread: &Thread) -> Usages {
    let mut usages = Usages::default();
    usages.read(&thread.values);
    usages
}

pub(super) async fn read(
    app: Access,
    Path(id): Path<String>,
    Query(query): Query<Pairs>,
) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    state_of(&app, &thread, None, StateOptions::from(&query)).await
}

pub(super) async fn at(
    app: Access,
    Path((id, checkpoint)): Path<(String, String)>,
    Query(query): Query<Pairs>,
) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    let at = checkpoint_id(&checkpoint)?;
    state_of(&app, &thread, Some(at), StateOptions::from(&query)).await
}

#[derive(Deserialize)]
pub(super) struct AtCheckpoint {
    checkpoint: CheckpointRef,
    #[serde(default)]
    subgraphs: bool,
    select: Option<Vec<String>>,
}

pub(super) async fn at_checkpoint(
    app: Access,
    Path(id): Path<String>,
    Body(given): Body<AtCheckpoint>,
) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    let wanted = StateOptions {
        subgraphs: given.subgraphs,
        select: given.select,
    };
    if let Some(namespace) = given.checkpoint.namespace() {
        return state_of_inner(&app, &thread, &given.checkpoint, namespace, wanted).await;
    }
    let at = given.checkpoint.root()?;
    state_of(&app, &thread, at, wanted).await
}

/// Returns the state of a subgraph, where the thread stands or where it stood at the checkpoint around it.
async fn state_of_inner(
    app: &App,
    thread: &Thread,
    checkpoint: &CheckpointRef,
    namespace: &str,
    wanted: StateOptions,
) -> ApiResult<Json<Value>> {
    let (id, around) = (checkpoint.id()?, checkpoint.around()?);
    let whole = StateOptions {
        subgraphs: true,
        select: None,
    };
    let Json(whole) = state_of(app, thread, around, whole).await?;
    let found = state_inside(&whole, namespace).filter(|state| {
        id.is_none_or(|id| state["checkpoint_id"].as_str() == Some(&*id.to_string()))
    });
    let missing = || {
        let id = id.map_or_else(String::new, |id| format!(" {id}"));
        let thread = &thread.thread_id;
        ApiError::not_found(format!(
            "Thread {thread} has no checkpoint{id} in a task `{namespace}`, where it stands"
        ))
    };
    let mut state = found.ok_or_else(missing)?.clone();
    if !wanted.subgraphs {
        leave_out_inner(&mut state);
    }
    Ok(Json(picked(state, wanted.select.as_deref())))
}

fn root(checkpoint: Option<&CheckpointRef>) -> ApiResult<Option<CheckpointId>> {
    Ok(checkpoint.map(CheckpointRef::root).transpose()?.flatten())
}

#[derive(Deserialize)]
pub(super) struct Update {
    values: Option<Value>,
    as_node: Option<String>,
    checkpoint: Option<CheckpointRef>,
    checkpoint_id: Option<String>,
    command: Option<RunCommand>,
}

impl Update {
    fn at(&self) -> ApiResult<Option<CheckpointId>> {
        match &self.checkpoint_id {
            Some(id) => checkpoint_id(id).map(Some),
            None => root(self.checkpoint.as_ref()),
        }
    }

    fn written(self) -> ApiResult<NodeUpdate> {
        let values = match self.command {
            Some(command) if !command.resume.is_null() || !command.goto.is_null() => {
                return Err(ApiError::invalid(
                    "a change of a state takes `command.update` only",
                ));
            }
            Some(command) => command.update,
            None => self.values.unwrap_or_default(),
        };
        Ok(NodeUpdate {
            values,
            as_node: self.as_node,
        })
    }
}

/// Changes the state of a thread by a superstep, and its row.
pub(super) async fn apply(
    app: &Arc<App>,
    thread: &Thread,
    superstep: Vec<Update>,
) -> ApiResult<CheckpointId> {
    let mut at = None;
    for update in &superstep {
        at = at.or(update.at()?);
    }
    let updates = superstep.into_iter().map(Update::written);
    let updates = updates.collect::<ApiResult<_>>()?;
    change_state(app, thread, Change { at, updates }).await
}

pub(super) async fn update(
    app: Access,
    Path(id): Path<String>,
    Body(given): Body<Update>,
) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    let made = apply(&app.app, &thread, vec![given]).await?.to_string();
    let checkpoint = json!({
        "thread_id": thread.thread_id, "checkpoint_ns": "", "checkpoint_id": made,
    });
    Ok(Json(json!({
        "checkpoint": checkpoint, "configurable": checkpoint, "checkpoint_id": made,
    })))
}

#[derive(Deserialize)]
pub(super) struct History {
    #[serde(default = "ten", deserialize_with = "limit")]
    limit: usize,
    before: Option<Value>,
    #[serde(default, deserialize_with = "object")]
    metadata: Option<Value>,
    checkpoint: Option<CheckpointRef>,
    select: Option<Vec<String>>,
}

/// `before` is a checkpoint's id, a checkpoint, or a config.
fn before(given: &Value) -> ApiResult<Option<CheckpointId>> {
    let named = given.as_str().or_else(|| given["checkpoint_id"].as_str());
    let named = named.or_else(|| given["configurable"]["checkpoint_id"].as_str());
    named.map(checkpoint_id).transpose()
}

async fn past(app: &Access, id: &str, asked: History) -> ApiResult<Json<Vec<Value>>> {
    let thread = find(app, id).await?;
    let Some(graph) = app.graph_of_thread(&thread.metadata)? else {
        return Ok(Json(Vec::new()));
    };
    root(asked.checkpoint.as_ref())?;
    let before = before(&asked.before.unwrap_or_default())?;
    let wanted = asked.metadata.unwrap_or_default();
    let limit = if wanted.is_null() {
        asked.limit
    } else {
        usize::MAX
    };
    let mut history = graph.history(&thread.thread_id, limit, before).await?;
    let usages = usages(&thread);
    for state in &mut history {
        usages.write(state);
    }
    let fitting = history
        .into_iter()
        .filter(|state| contains(&state["metadata"], &wanted))
        .take(asked.limit)
        .map(|state| picked(state, asked.select.as_deref()));
    Ok(Json(fitting.collect()))
}

pub(super) async fn history(
    app: Access,
    Path(id): Path<String>,
    Body(asked): Body<History>,
) -> ApiResult<Json<Vec<Value>>> {
    past(&app, &id, asked).await
}

pub(super) async fn history_query(
    app: Access,
    Path(id): Path<String>,
    Query(query): Query<Pairs>,
) -> ApiResult<Json<Vec<Value>>> {
    let asked = History {
        limit: query.number("limit", ten())?,
        before: query.get("before").map(Value::from),
        metadata: None,
        checkpoint: None,
        select: query.list("select"),
    };
    past(&app, &id, asked).await
}
