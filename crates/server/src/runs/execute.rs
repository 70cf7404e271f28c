//! One run, from its start to the rows that it leaves.

use std::sync::Arc;
use std::time::Duration;

use langgraph::AgentError;
use serde_json::{Value, json};

use super::frame::{Frame, now_ms};
use super::frames::{Frames, waiting};
use super::queue::{CancelAction, Live};
use super::request::Planned;
use crate::app::App;
use crate::error::{ApiResult, problem};
use crate::graph::{ErasedGraph, Finished};
use crate::wire::time::now;

/// How long the events of a run can be replayed.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// Runs, and returns the result for those who wait.
pub(super) async fn execute(app: Arc<App>, live: Arc<Live>, planned: Planned) -> Value {
    let temporary = planned.temporary;
    let result = run(&app, &live, planned).await.unwrap_or_else(|_| {
        // The log of the server says why.
        let problem = lost();
        live.log.push(Frame::new("", "error", &problem));
        if app.rows.set_run_status(&live.run_id, "error").is_err() {
            tracing::error!("the status of a run cannot be written");
        }
        json!({"__error__": problem})
    });
    if temporary {
        forget(&app, &live.thread_id).await;
    }
    result
}

/// The error of a run that the server could not carry out.
pub(super) fn lost() -> Value {
    json!({"error": "InternalServerError", "message": "the server could not carry out the run"})
}

/// Removes the thread of a run that had none. Open streams have its events already.
async fn forget(app: &App, thread: &str) {
    let Ok(Some(row)) = app.rows.thread(thread) else {
        return;
    };
    if let Ok(Some(graph)) = app.graph_of_thread(&row.metadata)
        && let Err(error) = graph.delete(thread).await
    {
        tracing::warn!(%error, "the thread of a run without one remains");
    }
    if let Err(error) = app.rows.delete_thread(thread) {
        tracing::warn!(%error, "the thread of a run without one remains");
    }
}

async fn run(app: &App, live: &Live, planned: Planned) -> ApiResult<Value> {
    let Planned {
        row,
        spec,
        graph,
        modes,
        ..
    } = planned;
    let (run, thread) = (row.run_id.as_str(), row.thread_id.as_str());
    let graph = app.graph(&graph)?;
    app.rows.set_run_status(run, "running")?;
    app.rows.change_thread(thread, |thread| {
        "busy".clone_into(&mut thread.status);
        thread.error = Value::Null;
    })?;

    let push = |frame: Frame| {
        let frame = live.log.push(frame);
        if live.resumable
            && let Err(error) = app.rows.add_event(run, &frame)
        {
            tracing::error!(%error, "an event of a run cannot be kept");
        }
    };
    push(Frame::new(
        "metadata",
        "metadata",
        &json!({"run_id": run, "attempt": 1}),
    ));
    let before = graph.head(thread).await?;
    let mut metadata = row.metadata.clone();
    crate::rows::merge(&mut metadata, &json!({"run_id": run, "thread_id": thread}));
    let mut frames = Frames::new(modes, run, metadata);
    let ended = graph
        .run(spec, &mut |event| {
            frames.frames(event).into_iter().for_each(&push);
        })
        .await;

    let (status, result, error) = match &ended {
        Ok(finished) => ("success", values_of(finished), Value::Null),
        Err(AgentError::Cancelled) if live.action() == Some(CancelAction::Rollback) => {
            match before {
                Some(before) => graph.restore(thread, before).await?,
                None => graph.delete(thread).await?,
            }
            app.rows.delete_run(run)?;
            settle(app, &*graph, thread, "idle", Value::Null).await?;
            return Ok(json!({}));
        }
        Err(error) => {
            let problem = problem(error);
            let status = match error {
                AgentError::Cancelled => "interrupted",
                AgentError::TimedOut(_) => "timeout",
                _ => "error",
            };
            if status != "interrupted" {
                push(Frame::new("", "error", &problem));
            }
            (status, json!({"__error__": problem}), problem)
        }
    };
    let thread_status = match &ended {
        Ok(finished) if finished.paused => "interrupted",
        Ok(_) => "idle",
        Err(AgentError::Cancelled) => "interrupted",
        Err(_) => "error",
    };
    settle(app, &*graph, thread, thread_status, error).await?;
    app.rows.set_run_status(run, status)?;
    if live.resumable {
        let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
        app.rows
            .forget_events_before(now_ms().saturating_sub(kept))?;
    }
    Ok(match ended {
        Err(AgentError::Cancelled) => json!({}),
        _ => result,
    })
}

fn values_of(finished: &Finished) -> Value {
    let mut values = finished.values.clone();
    if !finished.interrupts.is_empty() && values.is_object() {
        values["__interrupt__"] = finished.interrupts.iter().map(waiting).collect();
    }
    values
}

/// Writes what the thread's row says of its state.
pub(crate) async fn settle(
    app: &App,
    graph: &dyn ErasedGraph,
    thread: &str,
    status: &str,
    error: Value,
) -> ApiResult<()> {
    let state = graph.state(thread, None, false).await?;
    let state = state.unwrap_or_else(|| json!({"values": null, "tasks": []}));
    let mut interrupts = json!({});
    for task in state["tasks"].as_array().into_iter().flatten() {
        let open = task["interrupts"].as_array();
        if let (Some(id), true) = (
            task["id"].as_str(),
            open.is_some_and(|open| !open.is_empty()),
        ) {
            interrupts[id] = task["interrupts"].clone();
        }
    }
    app.rows.change_thread(thread, |row| {
        status.clone_into(&mut row.status);
        row.values = state["values"].clone();
        row.interrupts = interrupts;
        row.error = error;
        row.state_updated_at = now();
    })?;
    Ok(())
}
