//! Accepts runs.

use std::sync::Arc;

use serde_json::json;

use super::request::{IfNotExists, RunRequest};
use super::submit::submit;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::thread_id;
use crate::rows::{Run, Thread, merge};
use crate::stream::{Feed, FeedReader};
use crate::threads::make;

/// A run that was accepted.
pub(crate) struct Accepted {
    pub(crate) feed: Arc<Feed>,
    /// Reads its events from the first one on.
    pub(crate) events: FeedReader,
    pub(crate) row: Run,
    pub(crate) cancel_on_disconnect: bool,
    /// True if the client has named no thread.
    pub(crate) stateless: bool,
}

/// Accepts a run: on a thread, or on one that lives as long as the run.
pub(crate) async fn accept(
    app: &Access,
    thread: Option<&str>,
    request: RunRequest,
) -> ApiResult<Accepted> {
    if app.runs.is_draining() {
        return Err(ApiError::unavailable());
    }
    let create = request.if_not_exists == Some(IfNotExists::Create);
    let thread = thread.map(thread_id).transpose()?;
    let (new, assistant) = request.plan(app, thread.as_deref()).await?;
    let own = json!({
        "graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id,
    });
    let id = &new.row.thread_id;
    if thread.is_none() || create {
        let row = Thread::new(id.clone(), app.owner(), own.clone());
        make(app, &row.temporary(new.row.kwargs.temporary)).await?;
    }
    let found = app.rows.thread(id).await?;
    if !found.is_some_and(|thread| app.sees(&thread.owner)) {
        return Err(ApiError::not_found("Thread or assistant not found."));
    }
    let known = app
        .rows
        .change_thread(id, |thread| merge(&mut thread.metadata, &own))
        .await?;
    if known.is_none() {
        return Err(ApiError::not_found("Thread or assistant not found."));
    }
    // The reader is there before the first event.
    let feed = app
        .runs
        .feeds
        .of(&new.row.run_id, app.stores_events(&new.row), None);
    let events = FeedReader::new(&app.rows, Arc::clone(&feed), 0);
    submit(app, &new).await?;
    Ok(Accepted {
        feed,
        events,
        cancel_on_disconnect: new.cancel_on_disconnect,
        row: new.row,
        stateless: thread.is_none(),
    })
}
