//! Accepts runs.

use std::sync::Arc;

use serde_json::json;

use super::{Feed, RunRequest, plan, submit};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::thread_id;
use crate::rows::{Run, Thread, merge};
use crate::threads::make;

/// A run that was accepted.
pub(crate) struct Accepted {
    pub(crate) feed: Arc<Feed>,
    pub(crate) row: Run,
    pub(crate) cancel_on_disconnect: bool,
    /// True if the client has named no thread.
    pub(crate) stateless: bool,
}

impl Accepted {
    pub(crate) fn run_id(&self) -> &str {
        &self.row.run_id
    }
}

/// Accepts a run: on a thread, or on one that lives as long as the run.
pub(crate) async fn accept(
    app: &Access,
    thread: Option<&str>,
    request: RunRequest,
) -> ApiResult<Accepted> {
    let create = request.if_not_exists.as_deref() == Some("create");
    let thread = thread.map(thread_id).transpose()?;
    let (planned, assistant) = plan(app, thread.as_deref(), request).await?;
    let own = json!({
        "graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id,
    });
    let id = &planned.row.thread_id;
    if thread.is_none() || create {
        let row = Thread::new(id.clone(), app.owner(), own.clone());
        make(app, &row.temporary(planned.temporary)).await?;
    }
    let found = app.rows.thread(id).await?;
    if !found.is_some_and(|thread| app.sees(&thread.owner)) {
        return Err(ApiError::not_found("Thread or assistant not found."));
    }
    let known = app
        .rows
        .change_thread(id, |thread| {
            merge(&mut thread.metadata, &own);
        })
        .await?;
    if known.is_none() {
        return Err(ApiError::not_found("Thread or assistant not found."));
    }
    Ok(Accepted {
        feed: submit(app, &planned).await?,
        cancel_on_disconnect: planned.cancel_on_disconnect,
        row: planned.row,
        stateless: thread.is_none(),
    })
}
