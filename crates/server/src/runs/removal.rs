//! The second act of a removal: what is stored of a thread whose row is marked.

use crate::app::App;
use crate::error::ApiResult;
use crate::rows::{Mark, Thread};

/// Removes the states of a thread whose row is marked, and then the row.
pub(crate) async fn finish_removal(app: &App, thread: &Thread, mut mark: Mark) -> ApiResult<()> {
    let id = &thread.thread_id;
    let graph = app.graph_of_thread(&thread.metadata)?;
    loop {
        if let Some(graph) = &graph {
            graph.delete(id).await?;
        }
        match app.rows.end_removal(id, mark).await? {
            Some(changed) => mark = changed,
            None => return Ok(()),
        }
    }
}

/// Removes a thread again on which something was stored during its removal, or after it. Returns false if nothing
/// has removed it.
pub(super) async fn remove_again(app: &App, thread: &Thread) -> ApiResult<bool> {
    match app.rows.repeat_removal(thread).await? {
        Some(mark) => finish_removal(app, thread, mark).await.map(|()| true),
        None => Ok(false),
    }
}
