//! Delayed runs whose time has come.

use std::sync::Arc;

use super::submit::stop;
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::RunQueue;
use crate::rows::StoppingRun;

/// Lets the delayed runs take part whose time has come. Those that stop the other runs of their thread do so first.
pub(super) async fn release_due(app: &Arc<App>) -> ApiResult<()> {
    let mut is_released = app.rows.release_due().await?;
    for stopping in app.rows.take_stopping().await? {
        match release(app, &stopping).await {
            Ok(()) => is_released = true,
            // It is due again in a minute.
            Err(error) => {
                tracing::error!(?error, run = stopping.run, "a delayed run cannot begin");
            }
        }
    }
    if is_released {
        app.rows.wake();
    }
    Ok(())
}

async fn release(app: &Arc<App>, stopping: &StoppingRun) -> ApiResult<()> {
    let others = app.rows.active(&stopping.thread).await?;
    stop(app, &others, stopping.action).await?;
    Ok(app.rows.release_stopping(stopping).await?)
}
