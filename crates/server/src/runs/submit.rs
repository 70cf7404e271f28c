//! Runs are put in the queue, joined and cancelled.

use std::sync::Arc;
use std::time::SystemTime;

use langgraph_queue::{Cancel, Cancelled, EventLog, Job, RunQueue};
use serde_json::{Value, json};

use super::feed::Feed;
use super::frame::Frame;
use super::request::Planned;
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::rows::Run;

/// How many events are read at once.
const PAGE: usize = 500;

/// Puts a run in the queue; what runs on its thread already is treated as the run's strategy says.
pub(crate) async fn submit(app: &Arc<App>, planned: &Planned) -> ApiResult<Arc<Feed>> {
    let Planned { row, .. } = planned;
    let strategy = row.multitask_strategy.as_str();
    let action = match strategy {
        "interrupt" => Some(Cancel::Interrupt),
        "rollback" => Some(Cancel::Rollback),
        _ => None,
    };
    let others = match action {
        Some(_) => app.rows.open(&row.thread_id).await?,
        None => Vec::new(),
    };
    let mut job = Job::new(&row.run_id, &row.thread_id, serde_json::to_string(row)?);
    job.priority = planned.priority;
    job.concurrency_key.clone_from(&planned.concurrency_key);
    job.not_before = planned.delay.map(|delay| SystemTime::now() + delay);
    // Whoever waits for the run hears it from the first event on.
    let feed = app.runs.feeds.of(&row.run_id, app.keeps(row));
    if !app.rows.push(job, strategy == "reject").await? {
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
    Ok(feed)
}

/// Cancels a run. One that waits ends at once, another one as soon as it can. Returns false if it
/// has ended before.
pub(crate) async fn cancel(app: &Arc<App>, run: &str, action: Cancel) -> ApiResult<bool> {
    let done = app.rows.cancel(run, action).await?;
    if done == Cancelled::Withdrawn {
        if action == Cancel::Rollback {
            app.rows.delete_run(run).await?;
        }
        if let Some(feed) = app.runs.feeds.get(run) {
            feed.end(Some(json!({})));
        }
    }
    if let (Cancelled::Asked, Some(live)) = (done, app.runs.live.get(run)) {
        live.stop(action);
    }
    Ok(done != Cancelled::Ended)
}

/// Returns the feed of a run, with what has happened so far.
pub(crate) async fn join(app: &Arc<App>, run: &Run) -> ApiResult<Arc<Feed>> {
    let feed = app.runs.feeds.of(&run.run_id, app.keeps(run));
    catch_up(app, &feed).await?;
    Ok(feed)
}

/// Reads what other processes have done for a run.
pub(super) async fn catch_up(app: &App, feed: &Feed) -> ApiResult<()> {
    let _one = feed.reading.lock().await;
    if feed.is_local() || !feed.is_open() {
        return Ok(());
    }
    // What has ended before has all of its events.
    let row = app.rows.run_of_id(&feed.run).await?;
    // Another process stores the events of all runs, also of one that was asked for before it came.
    if feed.resumable || app.rows.is_shared() {
        load(app, feed).await?;
    }
    match row {
        Some(row) if row.is_open() => Ok(()),
        row => {
            // It may run here since.
            if !feed.is_local() {
                feed.end(Some(result(app, row.as_ref()).await?));
            }
            Ok(())
        }
    }
}

/// Reads the stored events behind those that are here.
pub(super) async fn load(app: &App, feed: &Feed) -> ApiResult<()> {
    loop {
        let after = i64::try_from(feed.len()).unwrap_or(i64::MAX) - 1;
        let page = app.rows.read(&feed.run, after, PAGE).await?;
        let more = page.len() == PAGE;
        feed.extend(page.into_iter().map(Frame::from).collect());
        if !more {
            return Ok(());
        }
    }
}

/// Returns the result of a run that has ended elsewhere, or before.
async fn result(app: &App, run: Option<&Run>) -> ApiResult<Value> {
    let Some(run) = run else {
        return Ok(json!({}));
    };
    if let Some(result) = app.rows.result(&run.run_id).await? {
        return Ok(result);
    }
    let thread = app.rows.thread(&run.thread_id).await?;
    Ok(match (thread, &*run.status) {
        (Some(thread), "error" | "timeout") => json!({"__error__": thread.error}),
        (Some(thread), _) => thread.values,
        (None, _) => json!({}),
    })
}
