//! Threads, as the user of a request sees them.

use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::thread_id;
use crate::rows::{Creation, Thread, Ttl};
use crate::runs::finish_removal;

/// Returns true if the user sees the thread.
pub(crate) fn sees(app: &Access, thread: &Thread) -> bool {
    app.sees(&thread.owner) && app.filters.threads.fits(&thread.metadata)
}

/// Creates a thread of the user, unless it exists or there are too many. Returns true if it is new.
pub(crate) async fn make(app: &Access, mut thread: Thread) -> ApiResult<bool> {
    if let Some(time) = app.retention.threads {
        thread.ttl = thread.ttl.or(Some(Ttl::delete_after(time)));
    }
    let limit = app.limits.threads;
    match app.rows.create_thread(&thread, limit).await? {
        Creation::Created => Ok(true),
        // One that is being removed is gone before the new one is there.
        Creation::Exists => match app.rows.removal(&thread.thread_id).await? {
            Some(old) => {
                finish_removal(app, &old.thread, old.mark).await?;
                Ok(app.rows.create_thread(&thread, limit).await? == Creation::Created)
            }
            None => Ok(false),
        },
        Creation::TooMany => Err(ApiError::too_many(format!(
            "there are {} threads already, which is the limit",
            limit.unwrap_or_default()
        ))),
    }
}

/// Returns the row of a thread of the user.
pub(crate) async fn find(app: &Access, id: &str) -> ApiResult<Thread> {
    let id = thread_id(id)?;
    let row = app.rows.thread(&id).await?;
    let row = row.filter(|thread| sees(app, thread));
    row.ok_or_else(|| ApiError::not_found(format!("Thread with ID {id} not found")))
}
