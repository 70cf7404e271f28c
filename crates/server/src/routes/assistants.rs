//! Assistants: graphs with a configuration.

use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::address::{Path, Query};
use super::query::{Body, IfExists, Pairs, if_exists, writable};
use super::search::{Search, counted, found};
use crate::error::{ApiError, ApiResult};
use crate::graph::{ErasedGraph, Schemas, drawing, state_schema, subgraph_names};
use crate::guard::Access;
use crate::ids::uuid;
use crate::rows::{
    Assistant, AssistantOrder, AssistantsOf, Listing, Thread, contains, merge, system_assistant,
};
use crate::runs::remove_thread;
use crate::threads::sees;
use crate::wire::time::now;

/// Finds an assistant by its id, or by the name of its graph.
pub(super) async fn find(app: &Access, id: &str) -> ApiResult<Assistant> {
    if !app.graphs.contains_key(id) {
        uuid("assistant", id)?;
    }
    let found = app.assistant(id).await;
    let missing = || ApiError::not_found(format!("Assistant with ID {id} not found"));
    found.map_err(|error| error.hidden_as(missing()))
}

/// As [`find`], for those that the user may change.
pub(super) async fn find_own(app: &Access, id: &str) -> ApiResult<Assistant> {
    let assistant = find(app, id).await?;
    if app.sees(&assistant.owner) {
        return Ok(assistant);
    }
    Err(ApiError::forbidden(
        "the default assistant of a graph belongs to everyone",
    ))
}

async fn graph_of(app: &Access, id: &str) -> ApiResult<(Assistant, Arc<dyn ErasedGraph>)> {
    let assistant = find(app, id).await?;
    let graph = app.graph(&assistant.graph_id)?;
    Ok((assistant, graph))
}

#[derive(Deserialize)]
pub(super) struct CreateAssistant {
    graph_id: String,
    assistant_id: Option<String>,
    config: Option<Map<String, Value>>,
    context: Option<Map<String, Value>>,
    metadata: Option<Map<String, Value>>,
    name: Option<String>,
    description: Option<String>,
    if_exists: Option<IfExists>,
}

pub(super) async fn create(
    app: Access,
    Body(given): Body<CreateAssistant>,
) -> ApiResult<Json<Value>> {
    // Also says which graphs there are.
    if !app.graphs.contains_key(&given.graph_id) {
        app.assistant(&given.graph_id).await?;
        return Err(ApiError::invalid("graph_id is the name of a graph"));
    }
    let now = now();
    let id = match given.assistant_id {
        Some(id) => uuid("assistant", &id)?,
        None => Uuid::new_v4().to_string(),
    };
    let object = |fields: Option<Map<String, Value>>| Value::Object(fields.unwrap_or_default());
    let mut assistant = Assistant {
        assistant_id: id,
        graph_id: given.graph_id,
        config: object(given.config),
        context: object(given.context),
        metadata: object(given.metadata),
        name: given.name.unwrap_or_else(|| "Untitled".to_owned()),
        description: given.description,
        created_at: now.clone(),
        updated_at: now,
        version: 1,
        owner: app.owner().to_owned(),
    };
    mirror(&mut assistant);
    merge(
        &mut assistant.metadata,
        &app.filters.assistants.as_metadata(),
    );
    writable(&assistant.json())?;
    if app.rows.create_assistant(&assistant).await? {
        return Ok(Json(assistant.json()));
    }
    let id = &assistant.assistant_id;
    let existing = find(&app.reading(), id)
        .await
        .map(|existing| existing.json());
    if_exists(given.if_exists, "Assistant", id, existing)
}

/// `context` and `config.configurable` are two names of one thing, unless both are given.
fn mirror(assistant: &mut Assistant) {
    let configurable = assistant.config["configurable"].clone();
    if is_empty(&assistant.context) && !is_empty(&configurable) {
        assistant.context = configurable;
    } else if is_empty(&configurable) && !is_empty(&assistant.context) {
        assistant.config["configurable"] = assistant.context.clone();
    }
}

/// Writes a new config and a new context, as far as they are given. Of the two names, the one that is given counts.
fn set_context(
    assistant: &mut Assistant,
    config: Option<Map<String, Value>>,
    context: Option<Map<String, Value>>,
) {
    let configurable = config
        .as_ref()
        .and_then(|config| config.get("configurable"));
    let names_values = configurable.is_some_and(|values| !is_empty(values));
    if let Some(config) = config {
        assistant.config = Value::Object(config);
    }
    match context {
        Some(context) => {
            assistant.context = Value::Object(context);
            if let (false, Some(config)) = (names_values, assistant.config.as_object_mut()) {
                config.remove("configurable");
            }
        }
        None if names_values => assistant.context = json!({}),
        None => {}
    }
    mirror(assistant);
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_none_or(Map::is_empty)
}

/// What a search for assistants has beside the metadata.
#[derive(Deserialize)]
pub(super) struct AssistantCriteria {
    graph_id: Option<String>,
    name: Option<String>,
}

impl Search<AssistantCriteria> {
    /// Returns which assistants are found, if their documents decide.
    fn wanted(&self, app: &Access) -> Option<impl Fn(&Assistant) -> bool> {
        let filtered = !app.filters.assistants.is_all();
        let name = self.of.name.as_ref().map(|name| name.to_lowercase());
        (name.is_some() || self.has_metadata() || filtered).then_some(move |one: &Assistant| {
            let name = name.as_ref();
            app.shows(one)
                && name.is_none_or(|name| one.name.to_lowercase().contains(name))
                && self.fits(&one.metadata)
        })
    }

    /// Returns the graphs whose assistants are searched.
    fn graphs<'a>(&self, app: &'a Access) -> Vec<&'a str> {
        let wanted = self.of.graph_id.as_deref();
        let names = app.graphs.keys().map(String::as_str);
        let names = names.filter(|name| wanted.is_none_or(|wanted| wanted == *name));
        names.collect()
    }

    fn listed<'a>(
        &self,
        app: &'a Access,
        graphs: &'a [&'a str],
    ) -> ApiResult<Listing<'a, Assistant>> {
        let orders = [
            ("created_at", AssistantOrder::Created),
            ("updated_at", AssistantOrder::Updated),
            ("assistant_id", AssistantOrder::Id),
            ("name", AssistantOrder::Name),
            ("graph_id", AssistantOrder::Graph),
        ];
        self.listing(
            app,
            AssistantsOf { graphs },
            AssistantOrder::Created,
            &orders,
            &FIELDS,
        )
    }
}

/// What a search may select of an assistant.
const FIELDS: [&str; 10] = [
    "assistant_id",
    "graph_id",
    "name",
    "description",
    "config",
    "context",
    "metadata",
    "created_at",
    "updated_at",
    "version",
];

pub(super) async fn search(
    app: Access,
    Body(search): Body<Search<AssistantCriteria>>,
) -> ApiResult<Response> {
    let graphs = search.graphs(&app);
    let listed = search.listed(&app, &graphs)?;
    let found = found(&app, listed, None, search.wanted(&app)).await?;
    Ok(search.page(&found, Assistant::json))
}

pub(super) async fn count(
    app: Access,
    Body(search): Body<Search<AssistantCriteria>>,
) -> ApiResult<Json<usize>> {
    let graphs = search.graphs(&app);
    let listed = search.listed(&app, &graphs)?;
    counted(&app, listed, None, search.wanted(&app)).await
}

pub(super) async fn read(app: Access, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    Ok(Json(find(&app, &id).await?.json()))
}

#[derive(Clone, Deserialize)]
pub(super) struct ChangeAssistant {
    graph_id: Option<String>,
    config: Option<Map<String, Value>>,
    context: Option<Map<String, Value>>,
    metadata: Option<Map<String, Value>>,
    name: Option<String>,
    description: Option<String>,
}

pub(super) async fn change(
    app: Access,
    Path(id): Path<String>,
    Body(given): Body<ChangeAssistant>,
) -> ApiResult<Json<Value>> {
    loop {
        let mut assistant = find_own(&app, &id).await?;
        apply(&app, &mut assistant, given.clone())?;
        // Another request may have changed it meanwhile.
        if app.rows.add_version(&mut assistant).await? {
            return Ok(Json(assistant.json()));
        }
    }
}

/// Writes what a request says into an assistant.
fn apply(app: &Access, assistant: &mut Assistant, given: ChangeAssistant) -> ApiResult<()> {
    if let Some(graph) = given.graph_id {
        app.graph(&graph)?;
        assistant.graph_id = graph;
    }
    set_context(assistant, given.config, given.context);
    let metadata = Value::Object(given.metadata.unwrap_or_default());
    if !app.filters.assistants.keeps(&metadata) {
        return Err(ApiError::forbidden("Forbidden"));
    }
    merge(&mut assistant.metadata, &metadata);
    if let Some(name) = given.name {
        assistant.name = name;
    }
    if let Some(description) = given.description {
        assistant.description = Some(description);
    }
    writable(&assistant.json())
}

pub(super) async fn remove(
    app: Access,
    Path(id): Path<String>,
    Query(query): Query<Pairs>,
) -> ApiResult<StatusCode> {
    let assistant = find_own(&app, &id).await?;
    if assistant.assistant_id == system_assistant(&assistant.graph_id).assistant_id {
        return Err(ApiError::conflict(
            "the default assistant of a graph cannot be deleted",
        ));
    }
    if query.is_true("delete_threads") {
        let own = json!({"assistant_id": assistant.assistant_id});
        let all = Listing::all(app.filter());
        let owned = |thread: &Thread| contains(&thread.metadata, &own) && sees(&app, thread);
        for thread in app.rows.wanted(all, None, owned).await?.page {
            remove_thread(&app, &thread).await?;
        }
    }
    app.rows.delete_assistant(&assistant.assistant_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
pub(super) struct Xray {
    xray: Option<String>,
}

pub(super) async fn graph(
    app: Access,
    Path(id): Path<String>,
    Query(query): Query<Xray>,
) -> ApiResult<Json<Value>> {
    let (_, graph) = graph_of(&app, &id).await?;
    let depth = match query.xray.as_deref() {
        None | Some("false") => 0,
        Some("true") => usize::MAX,
        Some(levels) => levels
            .parse()
            .map_err(|_| ApiError::invalid("xray is true, false, or a number of levels"))?,
    };
    Ok(Json(drawing(graph.topology(), depth)))
}

fn schemas_json(name: &str, schemas: &Schemas) -> Value {
    json!({
        "graph_id": name,
        "input_schema": schemas.input,
        "output_schema": schemas.output,
        "state_schema": schemas.state,
        "config_schema": schemas.context,
        "context_schema": schemas.context,
    })
}

pub(super) async fn schemas(app: Access, Path(id): Path<String>) -> ApiResult<Json<Value>> {
    let (assistant, graph) = graph_of(&app, &id).await?;
    Ok(Json(schemas_json(&assistant.graph_id, graph.schemas())))
}

#[derive(Deserialize)]
pub(super) struct Recurse {
    #[serde(default)]
    recurse: bool,
}

fn subgraphs_json(graph: &dyn ErasedGraph, recurse: bool, only: Option<&str>) -> Value {
    let found = subgraph_names(graph.topology(), recurse || only.is_some());
    let found = found
        .into_iter()
        .filter(|(path, _)| only.is_none_or(|only| path == only));
    let entries = found.map(|(path, inner)| {
        let schema = state_schema(inner);
        let schemas = Schemas {
            input: schema.clone(),
            output: schema.clone(),
            state: schema,
            ..Schemas::default()
        };
        (path, schemas_json(&inner.name, &schemas))
    });
    Value::Object(entries.collect())
}

pub(super) async fn subgraphs(
    app: Access,
    Path(id): Path<String>,
    Query(query): Query<Recurse>,
) -> ApiResult<Json<Value>> {
    let (_, graph) = graph_of(&app, &id).await?;
    Ok(Json(subgraphs_json(&*graph, query.recurse, None)))
}

pub(super) async fn subgraph(
    app: Access,
    Path((id, namespace)): Path<(String, String)>,
) -> ApiResult<Json<Value>> {
    let (_, graph) = graph_of(&app, &id).await?;
    Ok(Json(subgraphs_json(&*graph, true, Some(&namespace))))
}
