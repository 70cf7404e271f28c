//! Runs are put in the queue, and cancelled.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;

use super::attach::catch_up;
use super::finish::announce_end;
use super::request::NewRun;
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::queue::{Cancel, Cancelled, Job, RunQueue};
use crate::spec::Strategy;

/// Puts a run in the queue. The other runs of its thread are treated as its strategy says.
pub(crate) async fn submit(app: &Arc<App>, new: &NewRun) -> ApiResult<()> {
    let row = &new.row;
    let strategy = row.multitask_strategy;
    let action = match strategy {
        Strategy::Interrupt => Some(Cancel::Interrupt),
        Strategy::Rollback => Some(Cancel::Rollback),
        Strategy::Reject | Strategy::Enqueue => None,
    };
    let others = match action {
        Some(_) => app.rows.open(&row.thread_id).await?,
        None => Vec::new(),
    };
    let mut job = Job::new(&row.run_id, &row.thread_id, serde_json::to_string(row)?);
    job.priority = new.priority;
    job.concurrency_key.clone_from(&new.concurrency_key);
    job.not_before = new.delay.map(|delay| SystemTime::now() + delay);
    if !app.rows.push(job, strategy == Strategy::Reject).await? {
        return Err(ApiError::conflict(
            "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
        ));
    }
    if let Some(action) = action {
        // Those that wait first: none of them may start meanwhile.
        for other in others.iter().rev() {
            cancel(app, other, action).await?;
        }
    }
    Ok(())
}

/// Cancels a run. One that waits ends at once, another one as soon as it can. Returns false if it
/// has ended before.
pub(crate) async fn cancel(app: &Arc<App>, run: &str, action: Cancel) -> ApiResult<bool> {
    let done = app.rows.cancel(run, action).await?;
    if done == Cancelled::Withdrawn {
        if let Some(row) = app.rows.run_of_id(run).await? {
            let result = json!({});
            app.rows.set_result(run, &result).await?;
            announce_end(app, &row, "interrupted", &result).await;
        }
        if action == Cancel::Rollback {
            app.rows.delete_run(run).await?;
        }
        if let Some(feed) = app.runs.feeds.get(run) {
            catch_up(app, &feed).await?;
        }
    }
    if let (Cancelled::Asked, Some(live)) = (done, app.runs.live.get(run)) {
        live.cancel(action);
    }
    Ok(done != Cancelled::Ended)
}

/// Cancels a run when its client leaves before the end.
pub(crate) struct Disconnect(Option<(Arc<App>, String)>);

impl Disconnect {
    pub(crate) fn new(app: &Arc<App>, run: &str, cancels: bool) -> Self {
        Self(cancels.then(|| (Arc::clone(app), run.to_owned())))
    }

    /// The run has ended, or its client no longer matters.
    pub(crate) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Disconnect {
    fn drop(&mut self) {
        if let Some((app, run)) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                if let Err(error) = cancel(&app, &run, Cancel::Interrupt).await {
                    tracing::error!(?error, "failed to cancel the run of a client that left");
                }
            });
        }
    }
}
