//! The second act of a removal: what is stored of a thread whose row is marked.

use std::sync::Arc;

use futures_util::FutureExt;
use langgraph::error::{AgentError, CheckpointError};
use langgraph_core::new_id;

use crate::app::App;
use crate::error::ApiResult;
use crate::rows::{Mark, Removal, Thread};

/// Removes the states of a thread whose row is marked, and then the row.
///
/// It takes the thread from its holder first: who held it before the row was marked stores nothing any more, and who takes
/// it later looks at the row.
pub(crate) async fn finish_removal(app: &App, id: &str) -> ApiResult<()> {
    loop {
        let holder: Arc<str> = format!("removal/{}", new_id()).into();
        // Another process may have finished it, and the thread may be a new one of that name.
        let is_due = || async { Ok(app.rows.removal(id).await?.is_some()) }.boxed();
        if !app.saver.seize(id, &holder, is_due).await? {
            return Ok(());
        }
        let Some(Removal { thread, mark }) = app.rows.removal(id).await? else {
            return Ok(app.saver.release(id, &holder).await?);
        };
        if remove_held(app, &thread, mark, &holder).await? {
            return Ok(());
        }
    }
}

/// As [`finish_removal`], for the holder of the thread, which gives it back. Returns false if it has lost the thread.
pub(super) async fn remove_held(
    app: &App,
    thread: &Thread,
    mark: Mark,
    holder: &Arc<str>,
) -> ApiResult<bool> {
    let id = &thread.thread_id;
    if let Some(graph) = app.graph_of_thread(&thread.metadata)? {
        let graph = graph.with_saver(app.saver.held_by(holder));
        match graph.delete(id).await {
            Err(AgentError::Checkpoint(CheckpointError::LeaseLost { .. })) => return Ok(false),
            deleted => deleted?,
        }
    }
    let (removed, released) = tokio::join!(
        app.rows.end_removal(id, mark),
        app.saver.release(id, holder)
    );
    removed?;
    released?;
    Ok(true)
}
