//! Runs are cancelled: one, or several.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::address::{Path, Query};
use super::query::{Body, one_of};
use super::runs::{find_run, headers};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::uuid;
use crate::queue::{Cancel, RunQueue};
use crate::runs::{attach, cancel as cancel_run};
use crate::threads::{self, find};
use crate::wire::truth::is_true;

#[derive(Deserialize)]
pub(super) struct CancelQuery {
    wait: Option<String>,
    action: Option<String>,
}

fn action(given: Option<&str>) -> ApiResult<Cancel> {
    match given {
        None | Some("interrupt") => Ok(Cancel::Interrupt),
        Some("rollback") => Ok(Cancel::Rollback),
        Some(other) => Err(ApiError::invalid(format!(
            "action is one of interrupt, rollback, found '{other}'"
        ))),
    }
}

pub(super) async fn cancel(
    app: Access,
    Path((thread, run)): Path<(String, String)>,
    Query(query): Query<CancelQuery>,
) -> ApiResult<Response> {
    let run = find_run(&app, &thread, &run).await?;
    let action = action(query.action.as_deref())?;
    let waits = query.wait.as_deref().is_some_and(is_true);
    let place = format!("/threads/{}/runs/{}", run.thread_id, run.run_id);
    let feed = attach(&app, &run).await?;
    if !run.is_open() || !cancel_run(&app, &run.run_id, action).await? {
        return Err(ApiError::conflict("Run has ended already."));
    }
    if waits {
        feed.result().await;
        return Ok((headers(&place, "join"), Json(json!({}))).into_response());
    }
    Ok((StatusCode::ACCEPTED, headers(&place, "join")).into_response())
}

#[derive(Deserialize)]
pub(super) struct CancelMany {
    thread_id: Option<String>,
    run_ids: Option<Vec<String>>,
    status: Option<String>,
}

/// Returns those of the runs whose threads the user sees.
async fn seen(app: &Access, runs: Vec<String>) -> ApiResult<Vec<String>> {
    let mut seen = Vec::new();
    for run in runs {
        if let Some(row) = app.rows.run_of_id(&run).await?
            && threads::seen(app, &row.thread_id).await?.is_some()
        {
            seen.push(run);
        }
    }
    Ok(seen)
}

pub(super) async fn cancel_many(
    app: Access,
    Query(query): Query<CancelQuery>,
    Body(given): Body<CancelMany>,
) -> ApiResult<StatusCode> {
    let action = action(query.action.as_deref())?;
    let mut found: Vec<String> = match (given.thread_id, given.run_ids, given.status) {
        (Some(thread), Some(ids), None) => {
            let thread = find(&app, &thread).await?.thread_id;
            let ids: Vec<String> = ids
                .iter()
                .map(|id| uuid("run", id))
                .collect::<ApiResult<_>>()?;
            let open = app.rows.open(&thread).await?;
            open.into_iter().filter(|run| ids.contains(run)).collect()
        }
        (None, None, Some(status)) => {
            one_of("status", Some(&status), &["pending", "running", "all"])?;
            app.rows.open_runs(app.filter(), &status).await?
        }
        _ => {
            return Err(ApiError::invalid(
                "thread_id and run_ids, or a status, say which runs are cancelled",
            ));
        }
    };
    if !app.filters.threads.is_all() {
        found = seen(&app, found).await?;
    }
    if found.is_empty() {
        return Err(ApiError::not_found("no such run is under way"));
    }
    for run in found.iter().rev() {
        cancel_run(&app, run, action).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}
