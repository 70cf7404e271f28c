//! Threads of runs that name none: they end with their run.

use std::sync::Arc;
use std::time::Duration;

use super::removal::{finish_removal, remove_held};
use crate::app::App;
use crate::error::ApiResult;
use crate::rows::{Mark, Run, Thread};

/// How long the thread of a run without one stays for streams in other processes.
const READERS_LEAVE: Duration = Duration::from_secs(30);

/// A temporary thread that is marked as removed.
pub(super) struct Marked {
    pub(super) mark: Mark,
    /// Who holds its lease.
    pub(super) holder: Arc<str>,
}

/// Removes the thread of a run that has ended, if it is temporary. Streams of other processes may still read its
/// events, unless it is marked.
pub(super) fn leave_thread(app: &Arc<App>, row: &Run, marked: Option<Marked>) {
    if !row.kwargs.temporary {
        return;
    }
    let (app, thread, metadata) = (Arc::clone(app), row.thread_id.clone(), row.metadata.clone());
    tokio::spawn(async move {
        let Some(Marked { mark, holder }) = marked else {
            if app.rows.is_shared() {
                tokio::time::sleep(READERS_LEAVE).await;
            }
            return delete_unused(&app, &thread).await;
        };
        let row = Thread::new(thread, "", metadata);
        let removed = remove_held(&app, &row, mark, &holder).await;
        warn(removed.map(|_| ()), &row.thread_id);
    });
}

/// Removes a temporary thread.
pub(super) async fn delete_unused(app: &App, thread: &str) {
    let deleted = async {
        if app.rows.begin_removal(thread).await? {
            finish_removal(app, thread).await?;
        }
        Ok(())
    };
    warn(deleted.await, thread);
}

fn warn(deleted: ApiResult<()>, thread: &str) {
    if let Err(error) = deleted {
        tracing::warn!(?error, thread, "failed to delete temporary thread");
    }
}
