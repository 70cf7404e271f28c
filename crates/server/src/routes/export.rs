//! Tests that are made of threads.

use axum::Json;
use langgraph_testing::{ExportError, Mistake};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::address::Path;
use super::query::Body;
use crate::StoredContexts;
use crate::error::{ApiError, ApiResult};
use crate::graph::ExportSpec;
use crate::guard::Access;
use crate::threads::find;

/// What an export is asked for.
#[derive(Deserialize)]
pub(super) struct ExportThread {
    /// The expression that makes the graph.
    graph: Option<String>,
    mistake: Option<MistakeForm>,
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default)]
    keep: Vec<String>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    run_tools: Vec<String>,
}

#[derive(Deserialize)]
struct MistakeForm {
    #[serde(default)]
    path: Vec<String>,
    superstep: i64,
    node: String,
    field: Option<String>,
    #[serde(default)]
    expected: Value,
}

impl From<MistakeForm> for Mistake {
    fn from(form: MistakeForm) -> Self {
        let mistake = Self::at(form.superstep, form.node).in_graph(form.path);
        match form.field {
            Some(field) => mistake.expected(field, form.expected),
            None => mistake,
        }
    }
}

/// Returns the files of a test that is made of a thread. Models and tools are not called; the other code of
/// the nodes runs, and what it writes to the store is dropped.
pub(super) async fn export(
    app: Access,
    Path(id): Path<String>,
    Body(given): Body<ExportThread>,
) -> ApiResult<Json<Value>> {
    let thread = find(&app, &id).await?;
    let id = &thread.thread_id;
    let nothing = || ApiError::not_found(format!("Thread with ID {id} has no checkpoints"));
    let graph = app.graph_of_thread(&thread.metadata)?.ok_or_else(nothing)?;
    if graph.head(id).await?.is_none() {
        return Err(nothing());
    }
    let runs = app.rows.listed_runs(id, None, (0, RUNS), None).await?;
    let spec = ExportSpec {
        code: given.graph,
        mistake: given.mistake.map(Mistake::from),
        secrets: given.secrets,
        keep: given.keep,
        ignore: given.ignore,
        run_tools: given.run_tools,
        contexts: StoredContexts::of(runs.page),
    };
    let exported = graph.export(id, spec, app.store.clone()).await;
    let exported = exported.map_err(|error| match error {
        ExportError::UnknownThread { .. } => nothing(),
        ExportError::NothingCompared { .. } => ApiError::invalid(error.to_string()),
        ExportError::Thread { source, .. } => (*source).into(),
        ExportError::Replay { source, .. } => ApiError::of_graph(*source, app.shows_errors),
        _ => ApiError::broken(),
    })?;
    let files = exported.files().into_iter();
    let files: Map<String, Value> = files
        .map(|(name, content)| (name, content.into()))
        .collect();
    Ok(Json(json!({
        "name": exported.name,
        "files": files,
        "is_same": exported.report.is_same(),
    })))
}

/// The runs of a thread whose contexts are known.
const RUNS: usize = 1_000;
