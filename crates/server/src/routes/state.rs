//! The state and the history of threads.

use std::sync::Arc;

use axum::Json;
use langgraph::checkpoint::CheckpointId;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::address::{Path, Query};
use super::query::{Body, Pairs, selected};
use super::search::{limit, ten};
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::graph::{Change, HistoryQuery, Namespace, NodeUpdate, StateQuery};
use crate::guard::Access;
use crate::rows::Thread;
use crate::runs::change_state;
use crate::spec::{CheckpointRef, RunCommand, checkpoint_id};
use crate::threads::find;
use crate::wire::usage::Usages;

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
    query: StateQuery,
    select: Option<Vec<String>>,
) -> ApiResult<Json<Value>> {
    let graph = app.graph_of_thread(&thread.metadata)?;
    let found = match graph {
        Some(graph) => graph.state(&thread.thread_id, &query).await?,
        None => None,
    };
    let mut state = match found {
        Some(found) => found,
        None => empty(&thread.thread_id, &query)?,
    };
    usages(thread).write(&mut state);
    Ok(Json(picked(state, select.as_deref())))
}

/// Returns the state of a thread on which nothing has run.
fn empty(thread: &str, query: &StateQuery) -> ApiResult<Value> {
    let missing = match (query.at, &query.namespace) {
        (None, None) => {
            return Ok(json!({
                "values": {}, "next": [], "tasks": [], "metadata": {}, "created_at": null,
                "checkpoint": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": null},
                "parent_checkpoint": null, "interrupts": [], "checkpoint_id": null,
                "parent_checkpoint_id": null,
            }));
        }
        (Some(at), None) => format!("checkpoint {at}"),
        (None, Some(namespace)) => format!("subgraph `{namespace}`"),
        (Some(at), Some(namespace)) => format!("checkpoint {at} of a subgraph `{namespace}`"),
    };
    Err(ApiError::not_found(format!(
        "Thread {thread} has no {missing}"
    )))
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
    let wanted = StateQuery {
        subgraphs: query.is_true("subgraphs"),
        ..StateQuery::default()
    };
    state_of(&app, &thread, wanted, query.list("select")).await
}

pub(super) async fn at(
    app: Access,
    Path((id, checkpoint)): Path<(String, String)>,
    Query(query): Query<Pairs>,
) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    let wanted = StateQuery {
        at: Some(checkpoint_id(&checkpoint)?),
        subgraphs: query.is_true("subgraphs"),
        ..StateQuery::default()
    };
    state_of(&app, &thread, wanted, query.list("select")).await
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
    let wanted = StateQuery {
        namespace: given.checkpoint.namespace()?,
        at: given.checkpoint.id()?,
        subgraphs: given.subgraphs,
    };
    state_of(&app, &thread, wanted, given.select).await
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
        match (&self.checkpoint_id, &self.checkpoint) {
            (Some(id), _) => checkpoint_id(id).map(Some),
            (None, Some(checkpoint)) => checkpoint.id(),
            (None, None) => Ok(None),
        }
    }

    fn namespace(&self) -> ApiResult<Option<Namespace>> {
        let checkpoint = self.checkpoint.as_ref();
        Ok(checkpoint
            .map(CheckpointRef::namespace)
            .transpose()?
            .flatten())
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

/// Changes the state of a thread by a superstep, and its row. Returns what names the new checkpoint.
pub(super) async fn apply(
    app: &Arc<App>,
    thread: &Thread,
    superstep: Vec<Update>,
) -> ApiResult<Value> {
    let (mut namespace, mut at) = (None, None);
    for update in &superstep {
        namespace = namespace.or(update.namespace()?);
        at = at.or(update.at()?);
    }
    let updates = superstep.into_iter().map(Update::written);
    let change = Change {
        namespace,
        at,
        updates: updates.collect::<ApiResult<_>>()?,
    };
    change_state(app, thread, change).await
}

pub(super) async fn update(
    app: Access,
    Path(id): Path<String>,
    Body(given): Body<Update>,
) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    let made = apply(&app.app, &thread, vec![given]).await?;
    Ok(Json(json!({
        "checkpoint": made, "configurable": made, "checkpoint_id": made["checkpoint_id"],
    })))
}

#[derive(Deserialize)]
pub(super) struct History {
    #[serde(default = "ten", deserialize_with = "limit")]
    limit: usize,
    before: Option<Value>,
    metadata: Option<Map<String, Value>>,
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
    let checkpoint = asked.checkpoint.unwrap_or_default();
    let query = HistoryQuery {
        namespace: checkpoint.namespace()?,
        at: checkpoint.id()?,
        before: before(&asked.before.unwrap_or_default())?,
        limit: asked.limit,
        metadata: asked.metadata.unwrap_or_default(),
    };
    let mut history = graph.history(&thread.thread_id, &query).await?;
    let usages = usages(&thread);
    for state in &mut history {
        usages.write(state);
    }
    let selected = history.into_iter();
    let selected = selected.map(|state| picked(state, asked.select.as_deref()));
    Ok(Json(selected.collect()))
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
