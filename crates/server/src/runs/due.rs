//! Delayed runs whose time has come.

use std::sync::Arc;

use serde_json::json;

use super::submit::{BUSY, ended_before_it_began, stop};
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::{RunQueue, WhenDue};
use crate::rows::DueRun;
use crate::stream::RunError;

/// Lets the delayed runs take part whose time has come. Those that stop the other runs of their thread do so first, and
/// those that give way to them end.
pub(super) async fn release_due(app: &Arc<App>) -> ApiResult<()> {
    let mut is_released = app.rows.release_due().await?;
    for due in app.rows.take_due_runs().await? {
        match release(app, &due).await {
            Ok(released) => is_released |= released,
            // It is due again in a minute.
            Err(error) => {
                tracing::error!(?error, run = due.run, "a delayed run cannot begin");
            }
        }
    }
    if is_released {
        app.rows.wake();
    }
    Ok(())
}

/// Returns true if the run takes part.
async fn release(app: &Arc<App>, due: &DueRun) -> ApiResult<bool> {
    if let WhenDue::Stop(action) = due.act {
        let others = app.rows.active(&due.thread).await?;
        stop(app, &others, action).await?;
    }
    let is_released = app.rows.release(due).await?;
    if !is_released && due.act == WhenDue::GiveWay {
        give_way(app, due).await?;
    }
    Ok(is_released)
}

/// Ends a run whose thread is busy. It has not begun, so its thread stays as it is.
async fn give_way(app: &Arc<App>, due: &DueRun) -> ApiResult<()> {
    let Some(row) = app.rows.run_of_id(&due.run).await? else {
        return Ok(());
    };
    let error = RunError::new("ConflictError", BUSY);
    let result = json!({"__error__": error.json()});
    let notice = app.webhooks.notice(&row, "error", &result);
    if app.rows.give_way(due, &result, notice).await? {
        ended_before_it_began(app, &row).await?;
    }
    Ok(())
}
