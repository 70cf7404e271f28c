//! What the row of a thread says of its state.

use serde_json::{Value, json};

use super::waits::first_due;
use crate::app::App;
use crate::error::ApiResult;
use crate::graph::{ErasedGraph, StateQuery};
use crate::rows::Thread;
use crate::threads::is_paused;
use crate::wire::time::now;
use crate::wire::usage::Usages;

/// What the row of a thread says besides its state.
pub(super) struct ThreadStatusUpdate<'a> {
    pub(super) status: &'a str,
    pub(super) error: Value,
    /// What messages have cost that are new. The row says it of the others.
    pub(super) usages: Usages,
    /// The run that has left the thread so, if it has come to its end there, has paused, or was cancelled.
    pub(super) run: Option<&'a str>,
    /// No run has changed the state: one that has paused there still waits, and no other one does.
    pub(super) is_from_outside: bool,
    /// The state is as before: the time of its last change stays.
    pub(super) is_as_before: bool,
}

impl<'a> ThreadStatusUpdate<'a> {
    pub(super) fn new(status: &'a str) -> Self {
        Self {
            status,
            error: Value::Null,
            usages: Usages::default(),
            run: None,
            is_from_outside: false,
            is_as_before: false,
        }
    }
}

/// Returns the change that has the row of a thread say what its state is.
pub(super) async fn thread_change<'a>(
    app: &App,
    graph: &dyn ErasedGraph,
    thread: &str,
    update: ThreadStatusUpdate<'a>,
) -> ApiResult<impl Fn(&mut Thread) + Send + Sync + 'a> {
    let ThreadStatusUpdate {
        status,
        error,
        usages,
        run,
        is_from_outside,
        is_as_before,
    } = update;
    let state = graph.state(thread, &StateQuery::default()).await?;
    let state = state.unwrap_or_else(|| json!({"values": null, "tasks": []}));
    let mut interrupts = json!({});
    for task in state["tasks"].as_array().into_iter().flatten() {
        let open = task["interrupts"].as_array();
        let is_open = open.is_some_and(|open| !open.is_empty());
        if let (Some(id), true) = (task["id"].as_str(), is_open) {
            interrupts[id] = task["interrupts"].clone();
        }
    }
    // A thread that was stopped, or has failed, is not woken.
    let waits = status == "interrupted" && error.is_null();
    let wakes = waits.then(|| first_due(thread, &interrupts)).flatten();
    // The rows of runs may be gone when the time has come.
    let paused = match (wakes, run) {
        (Some(_), Some(run)) => app.rows.paused_run(run).await?.map(Box::new),
        _ => None,
    };
    Ok(move |row: &mut Thread| {
        row.wakes = wakes;
        if let Some(run) = run {
            row.left_by = Some(run.to_owned());
            // A run that was cancelled has not paused.
            if error.is_null() {
                row.paused.clone_from(&paused);
            }
        }
        if is_from_outside && !is_paused(row) {
            row.left_by = Some(String::new());
        }
        status.clone_into(&mut row.status);
        let mut values = state["values"].clone();
        usages.write(&mut values);
        let mut known = Usages::default();
        known.read(&row.values);
        known.write(&mut values);
        row.values = values;
        row.interrupts = interrupts.clone();
        row.error = error.clone();
        if !is_as_before {
            row.state_updated_at = now();
        }
    })
}

/// Writes what the row of a thread says of its state. Returns false if the thread was removed meanwhile.
pub(super) async fn write_thread(
    app: &App,
    graph: &dyn ErasedGraph,
    thread: &str,
    update: ThreadStatusUpdate<'_>,
) -> ApiResult<bool> {
    let change = thread_change(app, graph, thread, update).await?;
    Ok(app.rows.change_thread(thread, change).await?.is_some())
}
