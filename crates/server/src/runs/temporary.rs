//! Threads of runs that name none: they end with their run.

use std::sync::Arc;
use std::time::Duration;

use super::removal::finish_removal;
use crate::app::App;
use crate::rows::Run;

/// How long the thread of a run without one stays for streams in other processes.
const READERS_LEAVE: Duration = Duration::from_secs(30);

/// Removes the thread of a run that has ended, if it is temporary. Streams of other processes may
/// still read its events.
pub(super) fn leave_thread(app: &Arc<App>, row: &Run) {
    if !row.kwargs.temporary {
        return;
    }
    let (app, thread) = (Arc::clone(app), row.thread_id.clone());
    tokio::spawn(async move {
        if app.rows.is_shared() {
            tokio::time::sleep(READERS_LEAVE).await;
        }
        delete_unused(&app, &thread).await;
    });
}

/// Removes a temporary thread.
pub(super) async fn delete_unused(app: &App, thread: &str) {
    let deleted = async {
        let Some(row) = app.rows.thread(thread).await? else {
            return Ok(());
        };
        match app.rows.begin_removal(thread).await? {
            Some(mark) => finish_removal(app, &row, mark).await,
            None => Ok(()),
        }
    };
    if let Err(error) = deleted.await {
        tracing::warn!(?error, thread, "failed to delete temporary thread");
    }
}
