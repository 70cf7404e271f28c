//! Clients and processes attach to runs of other processes.

use std::sync::Arc;

use chrono::DateTime;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::ApiResult;
use crate::queue::EventLog;
use crate::rows::Run;
use crate::stream::{EndStatus, Feed, RunError, StreamEvent};

/// How many events are read at once.
const PAGE: usize = 256;

/// Returns the feed of a run, with what has happened so far.
pub(crate) async fn attach(app: &Arc<App>, run: &Run) -> ApiResult<Arc<Feed>> {
    let id = &run.run_id;
    let known = app.runs.feeds.get(id).filter(|feed| feed.is_open());
    let feed = if let Some(feed) = known {
        feed
    } else {
        let last = last_event(app, id).await?;
        app.runs.feeds.of(id, app.stores_events(run), last.as_ref())
    };
    feed.see();
    catch_up(app, &feed).await?;
    Ok(feed)
}

/// Returns the last stored event of a run.
pub(super) async fn last_event(app: &App, run: &str) -> ApiResult<Option<StreamEvent>> {
    let last = app.rows.last(run).await?;
    Ok(last.as_ref().map(StreamEvent::read).transpose()?)
}

/// Reads what other processes have done for a run.
pub(crate) async fn catch_up(app: &App, feed: &Feed) -> ApiResult<()> {
    let _one = feed.reading().await;
    if feed.is_local() || feed.has_result() {
        return Ok(());
    }
    let was_seen = feed.was_seen();
    // What has ended before has all of its events.
    let row = app.rows.run_of_id(&feed.run).await?;
    if row.is_none() && !was_seen {
        // Its request is on its way to the database.
        return Ok(());
    }
    // Another process stores the events of all runs, also of one that was accepted before it came.
    if feed.is_stored || app.rows.is_shared() {
        load(app, feed).await?;
    }
    // It may run here since.
    if row.as_ref().is_some_and(Run::is_open) || feed.is_local() {
        return Ok(());
    }
    let result = result(app, row.as_ref()).await?;
    if !feed.has_end() {
        feed.add(end_event(row.as_ref(), &result));
    }
    feed.end(Some(result));
    Ok(())
}

/// Returns the end of a run that could not publish it: it was lost or deleted, or was cancelled
/// before it began.
fn end_event(row: Option<&Run>, result: &Value) -> StreamEvent {
    let (status, error) = match row.map(|row| &*row.status) {
        Some("success") => (EndStatus::Completed, None),
        Some("error" | "timeout") => {
            let error = serde_json::from_value(result["__error__"].clone());
            (
                EndStatus::Failed,
                Some(error.unwrap_or_else(|_| RunError::internal())),
            )
        }
        _ => (EndStatus::Cancelled, None),
    };
    let mut event = StreamEvent::ended(status, error);
    // The same in every process.
    let ended = row.and_then(|row| DateTime::parse_from_rfc3339(&row.updated_at).ok());
    event.made = ended.map_or(event.made, |ended| ended.timestamp_millis());
    event
}

/// Reads the stored events that follow those that are here.
pub(super) async fn load(app: &App, feed: &Feed) -> ApiResult<()> {
    loop {
        let after = feed.next_number() - 1;
        let page = app.rows.read(&feed.run, after, PAGE).await?;
        let more = page.len() == PAGE;
        let events = page.iter().map(StreamEvent::read);
        feed.extend(events.collect::<Result<_, _>>()?);
        if !more {
            return Ok(());
        }
    }
}

/// Returns the result of a run that has ended in another process, or before.
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
